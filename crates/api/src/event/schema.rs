//! The OpenAPI schema of events: one schema per variant, and `Event` as the choice among them by `type`.

use std::borrow::Cow;

use utoipa::openapi::schema::{Discriminator, KnownFormat, ObjectBuilder, OneOfBuilder, Schema, SchemaFormat, SchemaType, Type};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

use super::catalogue::{payload_schemas, variants};
use super::{FeedEvent, ResetEvent};

type Schemas = Vec<(String, RefOr<Schema>)>;

/// One variant of the event enum, as the OpenAPI document describes it.
pub(super) struct EventVariant {
    name: &'static str,
    schema_name: String,
    description: &'static str,
    payload: String,
}

impl EventVariant {
    pub(super) fn of<P: ToSchema>(name: &'static str, variant: &str, description: &'static str) -> Self {
        Self { name, schema_name: format!("{variant}Event"), description: description.trim(), payload: P::name().into_owned() }
    }

    fn schema(&self) -> RefOr<Schema> {
        let seq = ObjectBuilder::new()
            .schema_type(Type::Integer)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .description(Some("The position in the feed. Absent for events that are sent to live subscribers only."));
        let at = ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .description(Some("The time of the event."));
        let session = ObjectBuilder::new()
            .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
            .description(Some("The session that the event belongs to."));
        ObjectBuilder::new()
            .description(Some(self.description))
            .property("seq", seq)
            .property("at", at)
            .required("at")
            .property("type", constant(self.name))
            .required("type")
            .property("sessionId", session)
            .property("data", Ref::from_schema_name(self.payload.clone()))
            .required("data")
            .into()
    }
}

/// Builds the schema of a string that has only this value.
fn constant(value: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some([value]))
}

/// Adds the schema of a type and of all types that it refers to.
pub(super) fn add_schema<T: ToSchema>(schemas: &mut Schemas) {
    schemas.push((T::name().into_owned(), T::schema()));
    T::schemas(schemas);
}

impl PartialSchema for FeedEvent {
    fn schema() -> RefOr<Schema> {
        let names: Vec<(String, String)> = variants()
            .into_iter()
            .map(|variant| (variant.name.to_owned(), variant.schema_name))
            .chain([(ResetEvent::NAME.to_owned(), ResetEvent::name().into_owned())])
            .collect();
        let mut choice = OneOfBuilder::new()
            .description(Some("One event as a stream sends it in its `data:` line. Ignore events with an unknown `type`."));
        for (_, schema) in &names {
            choice = choice.item(Ref::from_schema_name(schema));
        }
        let mapping = names.into_iter().map(|(name, schema)| (name, format!("#/components/schemas/{schema}")));
        choice.discriminator(Some(Discriminator::with_mapping("type", mapping))).into()
    }
}

impl ToSchema for FeedEvent {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("Event")
    }

    fn schemas(schemas: &mut Schemas) {
        payload_schemas(schemas);
        schemas.extend(variants().into_iter().map(|variant| (variant.schema_name.clone(), variant.schema())));
        add_schema::<ResetEvent>(schemas);
    }
}
