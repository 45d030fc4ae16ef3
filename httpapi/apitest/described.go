package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Description is an OpenAPI document of our own to which answers are held: types, formats, texts of enums, null, and
// that each field is described. It knows what those documents use, and no more. Safe for concurrent use.
type Description struct{ document map[string]any }

// Describe reads the document of one kind of host.
func Describe(t testing.TB, document []byte) Description {
	t.Helper()
	var d Description
	if err := json.Unmarshal(document, &d.document); err != nil {
		t.Fatalf("read OpenAPI document: %v", err)
	}
	return d
}

// Check reports what an answer in JSON has that its document does not say. Paths that the document lacks are left
// alone, and so are pages for people.
func (d Description) Check(t testing.TB, method, path string, got Answer) {
	t.Helper()
	if !strings.HasPrefix(got.Header.Get("Content-Type"), "application/json") || len(got.Body) == 0 {
		return
	}
	operation := d.operation(method, path)
	if operation == nil {
		return
	}
	schema, found := d.answer(operation, got.Status)
	if !found {
		t.Errorf("%s %s: the description has no answer %d: %s", method, path, got.Status, got.Body)
		return
	}
	var body any
	dec := json.NewDecoder(bytes.NewReader(got.Body))
	dec.UseNumber()
	if err := dec.Decode(&body); err != nil {
		t.Errorf("%s %s: %d is no JSON: %v", method, path, got.Status, err)
		return
	}
	closed := got.Status < http.StatusBadRequest // a failure may tell more of its case
	for _, fault := range d.faults(schema, body, "", closed) {
		t.Errorf("%s %s: %d%s", method, path, got.Status, fault)
	}
}

// CheckSuccess is Check for an answer of which only the body is known: it fits one of the successes.
func (d Description) CheckSuccess(t testing.TB, method, path string, body []byte) {
	t.Helper()
	var value any
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	operation := d.operation(method, path)
	if operation == nil || dec.Decode(&value) != nil {
		return
	}
	var all []string
	for status := http.StatusOK; status < http.StatusMultipleChoices; status++ {
		schema, found := d.answer(operation, status)
		if !found {
			continue
		}
		faults := d.faults(schema, value, "", true)
		if len(faults) == 0 {
			return
		}
		all = append(all, faults...)
	}
	if len(all) == 0 {
		all = []string{": no answer in JSON is described"}
	}
	for _, fault := range all {
		t.Errorf("%s %s: %s", method, path, fault)
	}
}

// operation finds the operation of a path, nil without one.
func (d Description) operation(method, path string) map[string]any {
	path, _, _ = strings.Cut(path, "?")
	paths, _ := d.document["paths"].(map[string]any)
	for pattern, operations := range paths {
		if !fits(pattern, path) {
			continue
		}
		if found, ok := operations.(map[string]any)[strings.ToLower(method)].(map[string]any); ok {
			return found
		}
	}
	return nil
}

// fits reports whether a path has the form of a pattern such as /users/{id}.
func fits(pattern, path string) bool {
	parts, given := strings.Split(pattern, "/"), strings.Split(path, "/")
	return slices.EqualFunc(parts, given, func(part, text string) bool {
		return part == text || strings.HasPrefix(part, "{") && text != ""
	})
}

// answer is the schema of a status; an answer of any JSON has the schema nil.
func (d Description) answer(operation map[string]any, status int) (schema any, found bool) {
	responses, _ := operation["responses"].(map[string]any)
	response, found := responses[strconv.Itoa(status)].(map[string]any)
	if !found && status >= http.StatusBadRequest {
		response, found = responses["default"].(map[string]any)
	}
	response = d.resolved(response)
	content, _ := response["content"].(map[string]any)
	body, described := content["application/json"].(map[string]any)
	return body["schema"], found && described
}

// resolved follows a reference of the document.
func (d Description) resolved(schema map[string]any) map[string]any {
	ref, is := schema["$ref"].(string)
	if !is {
		return schema
	}
	var at any = d.document
	for _, name := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		at, _ = at.(map[string]any)[name].(map[string]any)
	}
	target, _ := at.(map[string]any)
	return target
}

// faults lists what a value has that its schema does not allow, each with its place.
func (d Description) faults(schema, value any, at string, closed bool) []string {
	s, _ := schema.(map[string]any)
	s = d.resolved(s)
	if choices, several := s["anyOf"].([]any); several {
		var first []string
		for i, choice := range choices {
			faults := d.faults(choice, value, at, closed)
			if len(faults) == 0 {
				return nil
			}
			if i == 0 {
				first = faults
			}
		}
		return first
	}
	if enum, limited := s["enum"].([]any); limited && !slices.Contains(enum, value) {
		return []string{fmt.Sprintf("%s: %v is none of %v", at, value, enum)}
	}
	if kind := kindOf(value); !allows(s["type"], kind, value) {
		return []string{fmt.Sprintf("%s: %v is %s, want %v", at, value, kind, s["type"])}
	}
	switch v := value.(type) {
	case string:
		if format, _ := s["format"].(string); !formatted(format, v) {
			return []string{fmt.Sprintf("%s: %q is no %s", at, v, format)}
		}
	case []any:
		var faults []string
		for i, item := range v {
			faults = append(faults, d.faults(s["items"], item, fmt.Sprintf("%s[%d]", at, i), closed)...)
		}
		return faults
	case map[string]any:
		return d.object(s, v, at, closed)
	}
	return nil
}

// object lists the faults of the fields of an object, those that are missing, and those that are not described.
func (d Description) object(s, value map[string]any, at string, closed bool) (faults []string) {
	properties, described := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, given := value[name.(string)]; !given {
			faults = append(faults, fmt.Sprintf("%s.%s is missing", at, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(value)) {
		schema, known := properties[name]
		if !known {
			if schema = s["additionalProperties"]; schema == nil && described && closed {
				faults = append(faults, fmt.Sprintf("%s.%s is not described", at, name))
			}
		}
		faults = append(faults, d.faults(schema, value[name], at+"."+name, closed)...)
	}
	return faults
}

// kindOf is JSON schema's word for a value.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// allows reports whether a type, or a list of types, has a kind; no type has all.
func allows(types any, kind string, value any) bool {
	if types == nil {
		return true
	}
	list, several := types.([]any)
	if !several {
		list = []any{types}
	}
	whole := false
	if number, is := value.(json.Number); is {
		_, err := number.Int64()
		whole = err == nil
	}
	return slices.Contains(list, any(kind)) || whole && slices.Contains(list, any("integer"))
}

// formatted reports whether a text has a format.
func formatted(format, text string) bool {
	var err error
	switch format {
	case "uuid":
		_, err = id.Parse[id.Any](text)
	case "date":
		_, err = calendar.ParseDate(text)
	case "date-time":
		_, err = time.Parse(time.RFC3339, text)
	}
	return err == nil
}
