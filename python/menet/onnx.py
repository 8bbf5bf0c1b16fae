"""Pipelines with a menet estimator as ONNX files.

Import this module before ``skl2onnx.to_onnx(pipeline, X)``: it tells skl2onnx how to convert
:class:`~menet.ManifoldElasticNet`. An estimator on its own needs neither this module nor skl2onnx: it has ``to_onnx``.
"""

from __future__ import annotations

from typing import Any

try:
    import onnx
    from skl2onnx import update_registered_converter
    from skl2onnx.common.data_types import (
        BooleanTensorType,
        DoubleTensorType,
        FloatTensorType,
        Int64TensorType,
        StringTensorType,
    )
except ImportError as error:
    raise ImportError("menet.onnx needs skl2onnx: pip install skl2onnx") from error

from menet import ManifoldElasticNet

__all__: list[str] = []

KINDS = {
    onnx.TensorProto.STRING: StringTensorType,
    onnx.TensorProto.INT64: Int64TensorType,
    onnx.TensorProto.BOOL: BooleanTensorType,
    onnx.TensorProto.DOUBLE: DoubleTensorType,
}


def graph(operator: Any) -> Any:
    """Return the graph of an operator's estimator, in the precision of its input."""
    double = isinstance(operator.inputs[0].type, DoubleTensorType)
    model = onnx.load_from_string(operator.raw_operator.to_onnx("float64" if double else "float32"))
    return model.graph


def shapes(operator: Any) -> None:
    """Tell skl2onnx the types of label and probabilities."""
    rows = operator.inputs[0].get_first_dimension()
    label, probabilities, _ = graph(operator).output
    double = probabilities.type.tensor_type.elem_type == onnx.TensorProto.DOUBLE
    columns = probabilities.type.tensor_type.shape.dim[1].dim_value
    operator.outputs[0].type = KINDS[label.type.tensor_type.elem_type]([rows])
    operator.outputs[1].type = (DoubleTensorType if double else FloatTensorType)([rows, columns])


def convert(scope: Any, operator: Any, container: Any) -> None:
    """Put the estimator's graph in the place of the operator, with names of its own."""
    inner = graph(operator)
    names: dict[str, str] = {inner.input[0].name: operator.inputs[0].full_name}
    for output, given in zip(inner.output, operator.outputs, strict=False):
        names[output.name] = given.full_name

    def name(inside: str) -> str:
        if inside not in names:
            names[inside] = str(scope.get_unique_variable_name(f"menet_{inside}"))
        return names[inside]

    for tensor in inner.initializer:
        tensor.name = name(tensor.name)
        container.initializers.append(tensor)
    for node in inner.node:
        if node.output[0] == "scores":
            continue
        attributes = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
        container.add_node(
            node.op_type,
            [name(inside) for inside in node.input],
            [name(inside) for inside in node.output],
            op_version=17,
            name=scope.get_unique_operator_name(node.name),
            **attributes,
        )


update_registered_converter(
    ManifoldElasticNet,
    "MenetManifoldElasticNet",
    shapes,
    convert,
    options={"zipmap": [True, False, "columns"], "nocl": [True, False], "output_class_labels": [False, True]},
)
