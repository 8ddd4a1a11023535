//! Schemas of all that comes in and goes out. What is answered always has all its fields; what is asked may leave some
//! out: so the two are described apart, and a type that differs has two names.

use lockscope_view::{FALLS_MAX, LAB_POINTS_MAX, NEXT_MAX, WINDOW_ROWS_MAX};
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

/// Where a document keeps its schemas.
const PLACE: &str = "/components/schemas";
/// Behind the name of a type that is asked for otherwise than it is answered.
const ASKED: &str = "Asked";

pub(super) fn answered() -> SchemaGenerator {
    settings().for_serialize().into_generator()
}

pub(super) fn asked() -> SchemaGenerator {
    settings().for_deserialize().into_generator()
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.definitions_path = PLACE.into();
    })
}

/// All schemas under their names, and `asked` again with the names that its types have there.
pub(super) fn merge(
    mut answered: SchemaGenerator,
    mut asked: SchemaGenerator,
    bodies: &mut [(usize, Schema)],
) -> Map<String, Value> {
    let mut all = answered.take_definitions(true);
    let others = asked.take_definitions(true);
    let differ: Vec<String> = others
        .iter()
        .filter(|(name, schema)| all.get(*name).is_some_and(|known| known != *schema))
        .map(|(name, _)| name.clone())
        .collect();
    for (_, body) in bodies {
        let mut value = std::mem::take(body).to_value();
        rename(&mut value, &differ);
        if let Ok(schema) = Schema::try_from(value) {
            *body = schema;
        }
    }
    for (name, mut schema) in others {
        rename(&mut schema, &differ);
        let name = if differ.contains(&name) { format!("{name}{ASKED}") } else { name };
        all.insert(name, schema);
    }
    for schema in all.values_mut() {
        tell_plainly(schema);
    }
    all
}

/// References to types that differ lead to their other name.
fn rename(value: &mut Value, differ: &[String]) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(to)) = fields.get_mut("$ref")
                && to.rsplit('/').next().is_some_and(|name| differ.iter().any(|other| other == name))
            {
                to.push_str(ASKED);
            }
            fields.values_mut().for_each(|field| rename(field, differ));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, differ)),
        _ => {}
    }
}

/// Descriptions are comments of the code; links in them lead nowhere here, and names of limits say nothing.
fn tell_plainly(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(text)) = fields.get_mut("description") {
                *text = plain(text);
            }
            fields.values_mut().for_each(tell_plainly);
        }
        Value::Array(items) => items.iter_mut().for_each(tell_plainly),
        _ => {}
    }
}

fn plain(text: &str) -> String {
    let numbers = [
        ("[`WINDOW_ROWS_MAX`]", WINDOW_ROWS_MAX.to_string()),
        ("[`NEXT_MAX`]", NEXT_MAX.to_string()),
        ("[`FALLS_MAX`]", FALLS_MAX.to_string()),
        ("[`LAB_POINTS_MAX`]", format!("{LAB_POINTS_MAX} points")),
    ];
    let text = numbers.iter().fold(text.to_owned(), |text, (name, number)| text.replace(name, number));
    text.replace("[`super::", "`").replace("[`", "`").replace("`]", "`")
}
