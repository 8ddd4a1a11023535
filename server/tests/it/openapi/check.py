"""Holds values against the schemas of the API's document. Standard input: one JSON object a line; the first is the
document, each other has `of` (a JSON pointer into the document), `name` and `value`; with `is_first` it may lack fields
that were added since. One line out for each mistake.
Stricter than the document: a field that no schema describes is a mistake too."""

import json
import sys

import jsonschema_rs
from openapi_spec_validator import OpenAPIV31SpecValidator


def objects(node):
    """Every object of a document, outermost first."""
    if isinstance(node, dict):
        yield node
        for child in node.values():
            yield from objects(child)
    elif isinstance(node, list):
        for child in node:
            yield from objects(child)


def close(document):
    """Lets no schema take a field that it does not describe. What is spread into another is closed there."""
    schemas = document["components"]["schemas"]
    parts = [part for node in objects(schemas) if "properties" in node for part in [node, *node.get("anyOf", [])]]
    spread = {part["$ref"].rsplit("/", 1)[1] for part in parts if "$ref" in part}
    for name, schema in schemas.items():
        closable = schema.get("oneOf", []) if "oneOf" in schema and "properties" not in schema else [schema]
        for form in closable:
            if "properties" in form and name not in spread:
                form["unevaluatedProperties"] = False


def without_required(document):
    """The same of answers that may lack fields: several forms may fit one then."""
    document = json.loads(json.dumps(document))
    for node in objects(document["components"]["schemas"]):
        if isinstance(node.get("required"), list):
            del node["required"]
        if "oneOf" in node:
            node["anyOf"] = node.pop("oneOf")
    return document


def main():
    lines = iter(sys.stdin)
    document = json.loads(next(lines))
    for error in OpenAPIV31SpecValidator(document).iter_errors():
        print(f"the document: {error.message[:500]} at {list(error.absolute_path)}")
    # Its own examples are held against what it says as well.
    asked = []
    for path, operations in document["paths"].items():
        for verb, operation in operations.items():
            contents = [("requestBody", operation.get("requestBody", {}))]
            contents += [(f"responses/{status}", reply) for status, reply in operation["responses"].items()]
            for place, holder in contents:
                for media, content in holder.get("content", {}).items():
                    for example in content.get("examples", {}).values():
                        parts = ["paths", path, verb, *place.split("/"), "content", media, "schema"]
                        pointer = "#/" + "/".join(part.replace("~", "~0").replace("/", "~1") for part in parts)
                        asked.append({"of": pointer, "name": f"the example of {verb} {path}", "value": example["value"]})
    close(document)
    of_first = without_required(document)
    for line in lines:
        asked.append(json.loads(line))
    validators = {}
    for one in asked:
        of, is_first = one["of"], one.get("is_first", False)
        if (of, is_first) not in validators:
            schema = {**(of_first if is_first else document), "$ref": of.replace("{", "%7B").replace("}", "%7D")}
            validators[of, is_first] = jsonschema_rs.Draft202012Validator(schema)
        for error in list(validators[of, is_first].iter_errors(one["value"]))[:3]:
            print(f"{one['name']}: {error.message[:600]} at {list(error.instance_path)}")
    print(f"checked {len(asked)}", file=sys.stderr)


main()
