//! That data in pieces have the neighbours of the whole, to the bit.

use faer::{Mat, MatRef};

use super::*;
use crate::numerics::sparse::SparseMatrix;
use crate::preprocess::Centred;

const GROUPS: [(NeighborScope, usize); 3] =
    [(NeighborScope::Within, 5), (NeighborScope::Between, 4), (NeighborScope::All, 9)];

/// The samples in whichever form.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SampleForm {
    Rows,
    Columns,
    Single,
    Sparse,
}

/// Samples in all forms.
struct SamplesInAllForms {
    x: Mat<f64>,
    rows: Vec<f64>,
    single: Vec<f32>,
    class: Vec<usize>,
    dropped: Vec<usize>,
}

impl SamplesInAllForms {
    fn new(n: usize, p: usize, value: impl Fn(usize, usize) -> f64) -> Self {
        let x = Mat::from_fn(n, p, value);
        let rows: Vec<f64> = x.row_iter().flat_map(|row| row.iter().copied().collect::<Vec<_>>()).collect();
        let single = rows.iter().map(|&x| x as f32).collect();
        let class = (0..n).map(|i| usize::from(i % 5 > 1) + 2 * usize::from(i == 8)).collect();
        SamplesInAllForms { x, rows, single, class, dropped: Vec::new() }
    }

    fn block(&self, form: SampleForm, from: usize, to: usize) -> Block<'_> {
        let ((n, p), class) = (self.x.shape(), &self.class[from..to]);
        match form {
            SampleForm::Rows => {
                let rows = MatRef::from_row_major_slice(&self.rows, n, p).subrows(from, to - from);
                Block::dense(rows, class, from)
            }
            SampleForm::Columns => Block::dense(self.x.subrows(from, to - from), class, from),
            SampleForm::Single => {
                let rows = MatRef::from_row_major_slice(&self.single, n, p).subrows(from, to - from);
                Block::single(rows, class, from)
            }
            SampleForm::Sparse => {
                let rows = SparseMatrix::from_dense(self.x.subrows(from, to - from)).unwrap();
                Block::sparse(rows, class, from)
            }
        }
        .unwrap()
    }

    fn whole(&self, form: SampleForm) -> NeighborLists<3> {
        let (n, p) = self.x.shape();
        let data = match form {
            SampleForm::Single => {
                Dataset::from_f32(MatRef::from_row_major_slice(&self.single, n, p), &self.class)
            }
            _ => Dataset::new(self.x.as_ref(), &self.class),
        }
        .unwrap();
        let samples = Centred::new(&data, None).unwrap();
        neighbor_groups(&data, &samples, GROUPS, NeighborSearch::Exact, &()).unwrap().0
    }

    /// Compares the pieces between `cuts` with the whole, by whichever way pieces can be searched.
    fn compare(&self, form: SampleForm, mean: &[f64], cuts: &[usize]) {
        let (whole, centre) = (self.whole(form), Centre::new(mean, &self.dropped).unwrap());
        let pieces: Vec<(usize, usize)> = cuts.windows(2).map(|cut| (cut[0], cut[1])).collect();
        let blocks: Vec<Block<'_>> = pieces.iter().map(|&(from, to)| self.block(form, from, to)).collect();
        let none = || pieces.iter().map(|&(from, to)| NearestSamples::none(GROUPS, to - from)).collect();
        let (mut one_way, mut both_ways): (Vec<NearestSamples<3>>, Vec<NearestSamples<3>>) = (none(), none());
        let add =
            |all: &mut NearestSamples<3>, found: NearestSamples<3>| *all = found.merge(all.clone()).unwrap();
        for (a, block) in blocks.iter().enumerate() {
            for other in blocks.iter().rev() {
                add(&mut one_way[a], NearestSamples::search(block, other, centre, GROUPS, &()).unwrap());
            }
            add(&mut both_ways[a], NearestSamples::search_within(block, centre, GROUPS, &()).unwrap());
            for b in 0..a {
                // With and without what is known already.
                let (at_a, at_b) =
                    (both_ways[a].clone().into_arrays().1, both_ways[b].clone().into_arrays().1);
                let known = (block.clone().knowing(&at_a), blocks[b].clone().knowing(&at_b));
                let known = if b % 2 == 0 { (&known.0, &known.1) } else { (block, &known.1) };
                let (of_a, of_b) =
                    NearestSamples::search_both(known.0, known.1, centre, GROUPS, &()).unwrap();
                add(&mut both_ways[a], of_a);
                add(&mut both_ways[b], of_b);
            }
        }
        assert!(one_way == both_ways, "{form:?}");
        for (found, &(from, to)) in one_way.into_iter().zip(&pieces) {
            for (found, whole) in found.into_neighbors().iter().zip(&whole) {
                assert_eq!(found, &whole[from..to], "{form:?} of {from}..{to}");
            }
        }
    }

    fn means(&self) -> Vec<f64> {
        let n = self.x.nrows() as f64;
        self.x.col_iter().map(|column| column.iter().sum::<f64>() / n).collect()
    }
}

/// Whole numbers, of which nearly every distance is shared, in pieces of very different sizes.
#[test]
fn pieces_give_the_neighbours_of_the_whole() {
    for (n, p, scale) in [(1300, 3, 1.0), (700, 40, 0.1), (90, 201, 1e-60), (90, 7, 1e60), (60, 2500, 3.0)] {
        let given = SamplesInAllForms::new(n, p, |i, j| match (i * 7919 + j * 104_729 + i * j * 31) % 7 {
            _ if i % 17 == 4 => 0.0,
            at @ 0..=2 => scale * (1 + at) as f64,
            _ => 0.0,
        });
        let cuts = [0, 1, n / 7, n / 7, n / 2, n];
        for form in [SampleForm::Rows, SampleForm::Columns, SampleForm::Single, SampleForm::Sparse] {
            if form != SampleForm::Single || (1e-30..1e30).contains(&scale) {
                given.compare(form, &given.means(), &cuts);
            }
        }
    }
}

/// Clusters of near neighbours far apart and far from the origin, at scales that single precision has and has not.
#[test]
fn no_neighbour_is_lost_about_any_centre() {
    for (n, p, scale) in [(1500, 6, 1.0), (700, 60, 1e-60), (700, 6, 1e60), (700, 6, 1e-30), (300, 1100, 1.0)]
    {
        let given = SamplesInAllForms::new(n, p, |i, j| {
            let cluster = 1e4 + ((i % 7) * (j + 1)) as f64 * 1e3;
            scale * (cluster + ((i * 7919 + j * 104_729 + i * j * 31) % 1009) as f64 / 500.0)
        });
        let centres = [given.means(), vec![0.0; p], vec![-7e5 * scale; p]];
        for (mean, form) in centres.iter().zip([SampleForm::Rows, SampleForm::Rows, SampleForm::Single]) {
            if form != SampleForm::Single || (1e-25..1e25).contains(&scale) {
                given.compare(form, mean, &[0, n / 3, n / 3 + 1, n]);
            }
        }
    }
}

/// The whole leaves out by itself what varies by rounding alone.
#[test]
fn columns_that_are_dropped_take_no_part() {
    for form in [SampleForm::Rows, SampleForm::Columns, SampleForm::Single] {
        let mut given = SamplesInAllForms::new(700, 13, |i, j| match j {
            // In single precision, one of twenty thousand is next to 1: the norm that is left must be tiny.
            3 if form == SampleForm::Single => 1.0,
            3 | 11 => 0.1 + (i % 3) as f64 * f64::EPSILON / 16.0,
            _ => ((i * 7919 + j * 104_729 + i * j * 31) % 5) as f64,
        });
        if form != SampleForm::Single {
            assert!(given.rows[3] != given.rows[3 + 2 * 13]);
        }
        given.dropped = vec![3, 11];
        let (mut far, means) = (given.means(), given.means());
        given.compare(form, &means, &[0, 100, 650, 700]);
        // Wherever they are: here only the pieces are told, and the whole is of zeros.
        let zeros =
            SamplesInAllForms::new(700, 13, |i, j| if j == 3 || j == 11 { 0.0 } else { given.x[(i, j)] });
        let noisy = SamplesInAllForms::new(700, 13, |i, j| {
            given.x[(i, j)] + if j == 3 || j == 11 { (i % 9) as f64 } else { 0.0 }
        });
        far[3] = 1e6;
        let centre = Centre::new(&far, &given.dropped).unwrap();
        let found = NearestSamples::search_within(&noisy.block(form, 0, 700), centre, GROUPS, &()).unwrap();
        assert_eq!(found.into_neighbors(), zeros.whole(form), "{form:?}");
    }
}

/// All samples equal, in which no screen can tell candidates: exact distances do, a few at a time.
#[test]
fn equal_samples_are_neighbours_in_the_order_of_their_numbers() {
    let given = SamplesInAllForms::new(1300, 4, |i, j| if i == 700 && j == 1 { 1.0 } else { 2.5 });
    for form in [SampleForm::Rows, SampleForm::Single] {
        given.compare(form, &given.means(), &[0, 600, 1300]);
    }
}

#[test]
fn numbers_may_be_any_and_a_sample_is_no_neighbour_of_itself() {
    let given = SamplesInAllForms::new(900, 3, |i, j| ((i * 7919 + j * 104_729 + i * i) % 4) as f64);
    let (whole, mean) = (given.whole(SampleForm::Rows), given.means());
    let centre = Centre::new(&mean, &[]).unwrap();
    // Two sets that share samples: queries are all, references every third and then the others.
    let all = given.block(SampleForm::Rows, 0, 900);
    let mut found = NearestSamples::none(GROUPS, 900);
    for third in [true, false] {
        let numbers: Vec<usize> = (0..900).rev().filter(|i| (i % 3 == 0) == third).collect();
        let rows: Vec<f64> = numbers.iter().flat_map(|i| &given.rows[i * 3..i * 3 + 3]).copied().collect();
        let class: Vec<usize> = numbers.iter().map(|&i| given.class[i]).collect();
        let rows = MatRef::from_row_major_slice(&rows, numbers.len(), 3);
        let references = Block::dense(rows, &class, 0).unwrap().numbered(&numbers).unwrap();
        let one_way = NearestSamples::search(&all, &references, centre, GROUPS, &()).unwrap();
        let (both_ways, _) = NearestSamples::search_both(&all, &references, centre, GROUPS, &()).unwrap();
        assert!(one_way == both_ways);
        let (indices, squared) = one_way.into_arrays();
        found.add(&indices, &squared).unwrap();
    }
    assert_eq!(found.into_neighbors(), whole);
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let given = SamplesInAllForms::new(2300, 5, |i, j| ((i * 7919 + j * 104_729 + i * j * 31) % 9) as f64);
    let (mean, cut) = (given.means(), 1200);
    let centre = Centre::new(&mean, &[]).unwrap();
    let (a, b) = (given.block(SampleForm::Single, 0, cut), given.block(SampleForm::Single, cut, 2300));
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let both = NearestSamples::search_both(&a, &b, centre, GROUPS, &()).unwrap();
            (both, NearestSamples::search_within(&a, centre, GROUPS, &()).unwrap())
        })
    };
    let first = on(1);
    assert!(first == on(2) && first == on(3));
    // Whatever tiles come first, only what is near enough is told.
    let ((of_a, of_b), within) = first;
    let known = within.into_arrays().1;
    let both = NearestSamples::search_both(&a.clone().knowing(&known), &b, centre, GROUPS, &()).unwrap();
    assert!(both.1 == of_b);
    let (indices, squared) = of_a.into_arrays();
    let may = |at: usize| {
        squared[at] <= known[at / 18 * 18 + [4, 8, 17][[5, 9, 18].partition_point(|&end| end <= at % 18)]]
    };
    let (found, distances) = both.0.into_arrays();
    for at in 0..found.len() {
        let (index, square) = if may(at) { (indices[at], squared[at]) } else { (-1, f64::INFINITY) };
        assert_eq!((found[at], distances[at]), (index, square));
    }
}

#[test]
fn blocks_that_do_not_fit_are_refused() {
    let given = SamplesInAllForms::new(4, 3, |i, j| (i + j) as f64);
    let (class, mean) = ([0, 1, 0, 1], [0.0; 3]);
    let centre = Centre::new(&mean, &[]).unwrap();
    let block = given.block(SampleForm::Rows, 0, 4);
    let x = given.x.as_ref();
    assert!(Block::dense(x, &class[1..], 0).is_err());
    assert!(Block::dense(x.subcols(0, 0), &class, 0).is_err());
    assert!(block.clone().numbered(&[3, 4, 5]).is_err());
    let single = Mat::from_fn(4, 3, |i, j| (i + j) as f32);
    assert!(Block::single(single.as_ref(), &class, 0).is_err(), "by columns");
    let narrow = Block::dense(x.subcols(0, 2), &class, 0).unwrap();
    for other in [narrow, given.block(SampleForm::Sparse, 0, 4), given.block(SampleForm::Single, 0, 4)] {
        assert!(NearestSamples::search(&block, &other, centre, GROUPS, &()).is_err());
        assert!(NearestSamples::search_both(&block, &other, centre, GROUPS, &()).is_err());
    }
    assert!(Centre::new(&[0.0, f64::NAN], &[]).is_err());
    assert!(Centre::new(&mean, &[3]).is_err());
    let (short, dropping) = (Centre::new(&mean[1..], &[]).unwrap(), Centre::new(&mean, &[1]).unwrap());
    assert!(NearestSamples::search_within(&block, short, GROUPS, &()).is_err());
    assert!(
        NearestSamples::search_within(&given.block(SampleForm::Sparse, 0, 4), dropping, GROUPS, &()).is_err()
    );
    let all = NearestSamples::search_within(&block, centre, GROUPS, &()).unwrap();
    assert!(NearestSamples::search_within(&block.clone().knowing(&[1.0; 4]), centre, GROUPS, &()).is_err());
    let few =
        NearestSamples::search(&given.block(SampleForm::Rows, 0, 2), &block, centre, GROUPS, &()).unwrap();
    assert!(all.clone().merge(few).is_err());
    let other = [(NeighborScope::Within, 4), (NeighborScope::Between, 5), (NeighborScope::All, 9)];
    assert!(all.merge(NearestSamples::search_within(&block, centre, other, &()).unwrap()).is_err());
}
