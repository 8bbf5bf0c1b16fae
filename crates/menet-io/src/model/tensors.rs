//! Numbers and lists to safetensors and back. Everything that is read back is checked.

use std::collections::HashMap;

use faer::{Mat, MatRef};
use menet::lars::Certificate;
use menet::sparse::SparseVector;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

/// A message about what is wrong with a file.
pub(super) type Problem = String;

type Result<T> = std::result::Result<T, Problem>;

/// Collects tensors.
#[derive(Default)]
pub(super) struct Packer {
    tensors: Vec<(String, Dtype, Vec<usize>, Vec<u8>)>,
}

impl Packer {
    pub(super) fn floats(&mut self, name: &str, values: &[f64]) {
        let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.tensors.push((name.to_owned(), Dtype::F64, vec![values.len()], bytes));
    }

    /// Row by row, `columns` numbers per row.
    pub(super) fn matrix(&mut self, name: &str, values: &[f64], columns: usize) {
        self.floats(name, values);
        if let Some((_, _, shape, _)) = self.tensors.last_mut() {
            *shape = vec![values.len() / columns.max(1), columns];
        }
    }

    pub(super) fn dense(&mut self, name: &str, x: MatRef<'_, f64>) {
        let rows: Vec<f64> = x.row_iter().flat_map(|row| row.iter().copied().collect::<Vec<_>>()).collect();
        self.matrix(name, &rows, x.ncols());
    }

    pub(super) fn indices(&mut self, name: &str, values: &[usize]) {
        self.words(name, values.iter().map(|&x| x as u64));
    }

    pub(super) fn words(&mut self, name: &str, values: impl Iterator<Item = u64>) {
        let bytes: Vec<u8> = values.flat_map(u64::to_le_bytes).collect();
        self.tensors.push((name.to_owned(), Dtype::U64, vec![bytes.len() / 8], bytes));
    }

    pub(super) fn bytes(&mut self, name: &str, bytes: Vec<u8>) {
        self.tensors.push((name.to_owned(), Dtype::U8, vec![bytes.len()], bytes));
    }

    pub(super) fn certificates(&mut self, name: &str, certificates: impl Iterator<Item = Certificate>) {
        let values: Vec<f64> = certificates.flat_map(|c| [c.kkt, c.scaled]).collect();
        self.matrix(name, &values, 2);
    }

    pub(super) fn lists<'a>(&mut self, name: &str, lists: impl Iterator<Item = &'a [usize]>) {
        let (mut offsets, mut flat) = (vec![0], Vec::new());
        for list in lists {
            flat.extend_from_slice(list);
            offsets.push(flat.len());
        }
        self.indices(&format!("{name}.offsets"), &offsets);
        self.indices(&format!("{name}.indices"), &flat);
    }

    pub(super) fn sparse<'a>(&mut self, name: &str, vectors: impl Iterator<Item = &'a SparseVector> + Clone) {
        self.lists(name, vectors.clone().map(SparseVector::indices));
        self.floats(
            &format!("{name}.values"),
            &vectors.flat_map(|v| v.values().to_vec()).collect::<Vec<_>>(),
        );
    }

    /// The checksum of `text` and all packed tensors.
    pub(super) fn checksum(&self, text: &str) -> String {
        let tensors = self.tensors.iter().map(|(name, dtype, shape, bytes)| {
            (name.as_str(), format!("{dtype:?} {shape:?}"), bytes.as_slice())
        });
        checksum(text, tensors)
    }

    pub(super) fn finish(self, metadata: HashMap<String, String>) -> Result<Vec<u8>> {
        let views = self
            .tensors
            .iter()
            .map(|(name, dtype, shape, bytes)| {
                let view = TensorView::new(*dtype, shape.clone(), bytes).map_err(|e| e.to_string())?;
                Ok((name.as_str(), view))
            })
            .collect::<Result<Vec<_>>>()?;
        safetensors::serialize(views, Some(metadata)).map_err(|e| e.to_string())
    }
}

/// Takes tensors out.
pub(super) struct Unpacker<'a> {
    tensors: SafeTensors<'a>,
}

impl<'a> Unpacker<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<(Self, HashMap<String, String>)> {
        let damaged = |e: safetensors::SafeTensorError| format!("not a whole safetensors file: {e}");
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(damaged)?;
        Ok((Unpacker { tensors }, metadata.metadata().clone().unwrap_or_default()))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.tensors.tensor(name).is_ok()
    }

    /// The bytes of a list, or of a matrix with this many columns.
    fn typed(&self, name: &str, dtype: Dtype, columns: Option<usize>) -> Result<&'a [u8]> {
        let tensor = self.tensors.tensor(name).map_err(|_| format!("the tensor {name:?} is missing"))?;
        if tensor.dtype() != dtype {
            return Err(format!("the tensor {name:?} has type {:?}, not {dtype:?}", tensor.dtype()));
        }
        let (sound, wanted) = match (tensor.shape(), columns) {
            ([_], None) => (true, String::new()),
            ([_, given], Some(columns)) => (*given == columns && columns > 0, format!("rows of {columns}")),
            (_, Some(columns)) => (false, format!("rows of {columns}")),
            (_, None) => (false, "a list".to_owned()),
        };
        if !sound {
            return Err(format!(
                "the tensor {name:?} has the shape {:?}, but must hold {wanted}",
                tensor.shape()
            ));
        }
        Ok(tensor.data())
    }

    fn doubles(&self, name: &str, columns: Option<usize>) -> Result<Vec<f64>> {
        let (words, _) = self.typed(name, Dtype::F64, columns)?.as_chunks::<8>();
        Ok(words.iter().map(|&word| f64::from_le_bytes(word)).collect())
    }

    pub(super) fn bytes(&self, name: &str) -> Result<&'a [u8]> {
        self.typed(name, Dtype::U8, None)
    }

    /// The checksum of `text` and all tensors.
    pub(super) fn checksum(&self, text: &str) -> String {
        let tensors = self.tensors.iter();
        checksum(
            text,
            tensors.map(|(name, tensor)| {
                (name, format!("{:?} {:?}", tensor.dtype(), tensor.shape()), tensor.data())
            }),
        )
    }

    /// Finite numbers.
    pub(super) fn floats(&self, name: &str) -> Result<Vec<f64>> {
        self.finite(name, None)
    }

    fn finite(&self, name: &str, columns: Option<usize>) -> Result<Vec<f64>> {
        let values = self.doubles(name, columns)?;
        match values.iter().find(|x| !x.is_finite()) {
            Some(x) => Err(format!("the tensor {name:?} holds {x}, which is not a finite number")),
            None => Ok(values),
        }
    }

    /// Numbers, some of which may be infinite.
    pub(super) fn factors(&self, name: &str) -> Result<Vec<f64>> {
        let values = self.doubles(name, None)?;
        match values.iter().any(|x| x.is_nan()) {
            true => Err(format!("the tensor {name:?} holds a value that is not a number")),
            false => Ok(values),
        }
    }

    /// Numbers that are finite or missing, in rows of `columns`.
    pub(super) fn numbers(&self, name: &str, columns: usize) -> Result<Vec<f64>> {
        let values = self.doubles(name, Some(columns))?;
        match values.iter().any(|x| x.is_infinite()) {
            true => Err(format!("the tensor {name:?} holds an infinite number")),
            false => Ok(values),
        }
    }

    /// A matrix of such numbers with this many columns.
    pub(super) fn with_missing(&self, name: &str, columns: usize) -> Result<Mat<f64>> {
        Ok(rows(&self.numbers(name, columns)?, columns))
    }

    /// One finite number.
    pub(super) fn number(&self, name: &str) -> Result<f64> {
        match self.floats(name)?[..] {
            [number] => Ok(number),
            ref all => Err(format!("the tensor {name:?} holds {} numbers, not one", all.len())),
        }
    }

    /// A matrix of finite numbers with this many columns.
    pub(super) fn dense(&self, name: &str, columns: usize) -> Result<Mat<f64>> {
        Ok(rows(&self.finite(name, Some(columns))?, columns))
    }

    pub(super) fn words(&self, name: &str) -> Result<Vec<u64>> {
        let (words, _) = self.typed(name, Dtype::U64, None)?.as_chunks::<8>();
        Ok(words.iter().map(|&word| u64::from_le_bytes(word)).collect())
    }

    pub(super) fn indices(&self, name: &str) -> Result<Vec<usize>> {
        let index = |word: u64| usize::try_from(word).ok().filter(|&x| x < 1 << 48);
        self.words(name)?
            .into_iter()
            .map(|word| {
                index(word).ok_or_else(|| format!("the tensor {name:?} holds an index that is too large"))
            })
            .collect()
    }

    pub(super) fn certificates(&self, name: &str) -> Result<Vec<Certificate>> {
        let values = self.finite(name, Some(2))?;
        let (pairs, _) = values.as_chunks::<2>();
        Ok(pairs.iter().map(|&[kkt, scaled]| Certificate { kkt, scaled }).collect())
    }

    pub(super) fn lists(&self, name: &str) -> Result<Vec<Vec<usize>>> {
        let offsets = self.indices(&format!("{name}.offsets"))?;
        let flat = self.indices(&format!("{name}.indices"))?;
        split(name, &offsets, &flat)
    }

    pub(super) fn sparse(&self, name: &str) -> Result<Vec<SparseVector>> {
        let offsets = self.indices(&format!("{name}.offsets"))?;
        let indices = self.lists(name)?;
        let values = split(name, &offsets, &self.floats(&format!("{name}.values"))?)?;
        indices
            .into_iter()
            .zip(values)
            .map(|(indices, values)| {
                let rising = indices.windows(2).all(|pair| pair[0] < pair[1]);
                if !rising || values.contains(&0.0) {
                    return Err(format!(
                        "the tensor {name:?} holds a sparse vector whose indices are out of order"
                    ));
                }
                Ok(SparseVector::from_pairs(indices.into_iter().zip(values).collect()))
            })
            .collect()
    }
}

/// A matrix from its rows.
fn rows(values: &[f64], columns: usize) -> Mat<f64> {
    MatRef::from_row_major_slice(values, values.len() / columns, columns).to_owned()
}

/// CRC-32 of a text and of tensors in the order of their names, in eight digits.
fn checksum<'a>(text: &str, tensors: impl Iterator<Item = (&'a str, String, &'a [u8])>) -> String {
    let mut tensors: Vec<_> = tensors.collect();
    tensors.sort_unstable_by_key(|(name, ..)| *name);
    let mut crc = crc32fast::Hasher::new();
    crc.update(text.as_bytes());
    for (name, kind, bytes) in tensors {
        crc.update(format!("{name} {kind} ").as_bytes());
        crc.update(bytes);
    }
    format!("{:08x}", crc.finalize())
}

/// Cuts `flat` at `offsets`, which must begin at 0, never decrease, and end at its length.
fn split<T: Clone>(name: &str, offsets: &[usize], flat: &[T]) -> Result<Vec<Vec<T>>> {
    let sound = offsets.first() == Some(&0)
        && offsets.last() == Some(&flat.len())
        && offsets.windows(2).all(|pair| pair[0] <= pair[1]);
    if !sound {
        return Err(format!("the offsets of {name:?} do not fit its {} entries", flat.len()));
    }
    Ok(offsets.windows(2).map(|pair| flat[pair[0]..pair[1]].to_vec()).collect())
}
