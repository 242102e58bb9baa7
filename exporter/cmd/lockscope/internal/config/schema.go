package config

import (
	"encoding/json"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// SchemaID is what the schema is called.
const SchemaID = "https://github.com/lockscope/lockscope/blob/main/exporter/cmd/lockscope/internal/config/schema.json"

// Schema is the JSON schema of a [File], for editors. It is made of the types, so that no
// field is missing.
func Schema() ([]byte, error) {
	duration := &jsonschema.Schema{
		Types:       []string{"string", "integer"},
		Pattern:     `^(0|([0-9]+w)?([0-9]+d)?(([0-9]+(\.[0-9]+)?(h|m|s|ms|us|ns))+)?)$`,
		Description: "1d12h, 90m, 10s, 250ms",
	}
	date := &jsonschema.Schema{Type: "string", Pattern: `^\d{4}-\d{2}-\d{2}(T.*)?$`,
		Description: "2026-12-31, or a time"}
	s, err := jsonschema.For[File](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[Duration](): duration, reflect.TypeFor[Date](): date,
	}})
	if err != nil {
		return nil, err
	}
	s.Schema, s.ID, s.Title = "https://json-schema.org/draft/2020-12/schema", SchemaID, "Configuration of lockscope"
	return json.MarshalIndent(s, "", "  ")
}
