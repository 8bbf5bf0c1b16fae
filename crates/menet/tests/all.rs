//! All tests of the crate's interface, as one program: linked once, and run side by side. `sequential` changes a
//! setting of the whole program, so it is one of its own. A test of
//! menet-cli sees to it that every other file is listed.

mod always_never;
mod baselines;
mod common;
mod definiteness;
mod edge_cases;
mod feature_graph;
mod groups;
mod l0;
mod lars_factors;
mod lars_free;
mod lars_properties;
mod lars_reference;
mod lars_responses;
mod new_samples;
mod panels;
mod paper;
mod penalties;
mod penalties_fit;
mod penalties_oracle;
mod penalties_recomputed;
mod pieces;
mod prepare;
mod read_off;
mod readme;
mod seams;
mod select;
mod sparse;
mod stability;
mod threads;
mod unlabelled;
mod weights;
mod words;
