//! The messages of the ONNX format that a model needs, with the field numbers of its definition (`onnx.proto`, IR version 8).

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(super) struct Model {
    #[prost(int64, tag = "1")]
    pub(super) ir_version: i64,
    #[prost(string, tag = "2")]
    pub(super) producer_name: String,
    #[prost(string, tag = "3")]
    pub(super) producer_version: String,
    #[prost(message, optional, tag = "7")]
    pub(super) graph: Option<Graph>,
    #[prost(message, repeated, tag = "8")]
    pub(super) opset_import: Vec<OperatorSet>,
    #[prost(message, repeated, tag = "14")]
    pub(super) metadata_props: Vec<Entry>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct OperatorSet {
    #[prost(string, tag = "1")]
    pub(super) domain: String,
    #[prost(int64, tag = "2")]
    pub(super) version: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Entry {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(string, tag = "2")]
    pub(super) value: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Graph {
    #[prost(message, repeated, tag = "1")]
    pub(super) node: Vec<Node>,
    #[prost(string, tag = "2")]
    pub(super) name: String,
    #[prost(message, repeated, tag = "5")]
    pub(super) initializer: Vec<Tensor>,
    #[prost(message, repeated, tag = "11")]
    pub(super) input: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    pub(super) output: Vec<ValueInfo>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Node {
    #[prost(string, repeated, tag = "1")]
    pub(super) input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(super) output: Vec<String>,
    #[prost(string, tag = "3")]
    pub(super) name: String,
    #[prost(string, tag = "4")]
    pub(super) op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub(super) attribute: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Attribute {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(int64, optional, tag = "3")]
    pub(super) i: Option<i64>,
    #[prost(int64, repeated, tag = "8")]
    pub(super) ints: Vec<i64>,
    /// 2 for one whole number, 7 for a list of them.
    #[prost(int32, tag = "20")]
    pub(super) kind: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Tensor {
    #[prost(int64, repeated, tag = "1")]
    pub(super) dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub(super) data_type: i32,
    #[prost(bytes = "vec", repeated, tag = "6")]
    pub(super) string_data: Vec<Vec<u8>>,
    #[prost(string, tag = "8")]
    pub(super) name: String,
    /// Numbers in the bytes of a little-endian machine.
    #[prost(bytes = "vec", optional, tag = "9")]
    pub(super) raw_data: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ValueInfo {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(message, optional, tag = "2")]
    pub(super) kind: Option<Type>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Type {
    #[prost(message, optional, tag = "1")]
    pub(super) tensor: Option<TensorType>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TensorType {
    #[prost(int32, tag = "1")]
    pub(super) elem_type: i32,
    #[prost(message, optional, tag = "2")]
    pub(super) shape: Option<Shape>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Shape {
    #[prost(message, repeated, tag = "1")]
    pub(super) dim: Vec<Dimension>,
}

/// A number, or the name of one that is not known.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Dimension {
    #[prost(int64, optional, tag = "1")]
    pub(super) value: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub(super) param: Option<String>,
}
