//! Putting an ONNX graph together: constants, and operators one after the other.

use super::proto::{Attribute, Dimension, Graph, Node, Shape, Tensor, TensorType, Type, ValueInfo};

/// The types of tensors, by ONNX's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementType {
    Single = 1,
    Integer = 7,
    Text = 8,
    Boolean = 9,
    Double = 11,
}

/// A graph in the making. Values go by their names.
#[derive(Debug, Default)]
pub(super) struct GraphBuilder {
    graph: Graph,
}

impl GraphBuilder {
    pub(super) fn doubles(
        &mut self,
        name: &str,
        dims: &[usize],
        values: impl IntoIterator<Item = f64>,
    ) -> String {
        self.raw(name, dims, ElementType::Double, values.into_iter().flat_map(f64::to_le_bytes).collect())
    }

    pub(super) fn integers(
        &mut self,
        name: &str,
        dims: &[usize],
        values: impl IntoIterator<Item = i64>,
    ) -> String {
        self.raw(name, dims, ElementType::Integer, values.into_iter().flat_map(i64::to_le_bytes).collect())
    }

    pub(super) fn booleans(&mut self, name: &str, values: &[bool]) -> String {
        self.raw(
            name,
            &[values.len()],
            ElementType::Boolean,
            values.iter().map(|&value| u8::from(value)).collect(),
        )
    }

    pub(super) fn texts(&mut self, name: &str, values: &[String]) -> String {
        let string_data = values.iter().map(|value| value.clone().into_bytes()).collect();
        self.tensor(name, &[values.len()], ElementType::Text, Tensor { string_data, ..Tensor::default() })
    }

    fn raw(&mut self, name: &str, dims: &[usize], kind: ElementType, bytes: Vec<u8>) -> String {
        self.tensor(name, dims, kind, Tensor { raw_data: Some(bytes), ..Tensor::default() })
    }

    fn tensor(&mut self, name: &str, dims: &[usize], kind: ElementType, tensor: Tensor) -> String {
        let dims = dims.iter().map(|&size| size as i64).collect();
        self.graph.initializer.push(Tensor { name: name.to_owned(), dims, data_type: kind as i32, ..tensor });
        name.to_owned()
    }

    /// An operator with one output, which gets a name of its own.
    pub(super) fn apply(&mut self, operator: &str, inputs: &[&str]) -> String {
        self.with(operator, inputs, &[])
    }

    /// The output of an operator with whole numbers as attributes.
    pub(super) fn with(&mut self, operator: &str, inputs: &[&str], numbers: &[(&str, i64)]) -> String {
        let attribute = |&(name, i): &(&str, i64)| Attribute {
            name: name.to_owned(),
            i: Some(i),
            ints: Vec::new(),
            kind: 2,
        };
        self.node(operator, inputs, numbers.iter().map(attribute).collect(), 1).swap_remove(0)
    }

    /// A reduction over one axis, which is kept or not.
    pub(super) fn least(&mut self, input: &str, axis: i64) -> String {
        let axes = Attribute { name: "axes".to_owned(), i: None, ints: vec![axis], kind: 7 };
        let keep = Attribute { name: "keepdims".to_owned(), i: Some(1), ints: Vec::new(), kind: 2 };
        self.node("ReduceMin", &[input], vec![axes, keep], 1).swap_remove(0)
    }

    /// An operator with several outputs.
    pub(super) fn node(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attribute: Vec<Attribute>,
        outputs: usize,
    ) -> Vec<String> {
        let place = self.graph.node.len();
        let output: Vec<String> = (0..outputs).map(|k| format!("{operator}_{place}_{k}")).collect();
        self.graph.node.push(Node {
            input: inputs.iter().map(|&input| input.to_owned()).collect(),
            output: output.clone(),
            name: format!("menet_{operator}_{place}"),
            op_type: operator.to_owned(),
            attribute,
        });
        output
    }

    /// What the graph takes: any number of rows of `columns` values.
    pub(super) fn input(&mut self, name: &str, kind: ElementType, columns: usize) {
        self.graph.input.push(described(name, kind, Some(columns)));
    }

    /// Gives a value out under a name: one per row, or `columns` of them.
    pub(super) fn output(&mut self, name: &str, value: &str, kind: ElementType, columns: Option<usize>) {
        let node = Node {
            input: vec![value.to_owned()],
            output: vec![name.to_owned()],
            name: format!("menet_{name}"),
            op_type: "Identity".to_owned(),
            attribute: Vec::new(),
        };
        self.graph.node.push(node);
        self.graph.output.push(described(name, kind, columns));
    }

    pub(super) fn finish(mut self, name: &str) -> Graph {
        name.clone_into(&mut self.graph.name);
        self.graph
    }
}

fn described(name: &str, kind: ElementType, columns: Option<usize>) -> ValueInfo {
    let rows = Dimension { value: None, param: Some("N".to_owned()) };
    let columns = columns.map(|columns| Dimension { value: Some(columns as i64), param: None });
    let shape = Shape { dim: [Some(rows), columns].into_iter().flatten().collect() };
    let tensor = TensorType { elem_type: kind as i32, shape: Some(shape) };
    ValueInfo { name: name.to_owned(), kind: Some(Type { tensor: Some(tensor) }) }
}
