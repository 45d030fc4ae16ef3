package httpapi

import (
	"cmp"
	"strings"
)

// exampleTexts are examples of texts, by the name of the field.
var exampleTexts = map[string]string{
	"currency": "KES", "phone": "+254712345678", "to": "+254712345678", "email": "amina@example.com",
	"firstName": "Amina", "lastName": "Otieno", "accountNumber": "10000016", "username": "amina", "slug": "acme",
	"ipAddress": "10.20.0.7", "macAddress": "02:00:00:00:00:01", "reason": "agreed by phone", "name": "Home 10",
	"receiptNumber": "SKL4H7XQ2P", "number": "ACME-0001", "reference": "till 3", "planName": "Home 10",
	"code":     "home-10",
	"password": "a long enough password", "temporaryPassword": "a long enough password", "account": "10000016",
}

// exampleFormats are examples of texts, by their format.
var exampleFormats = map[string]string{
	"uuid": "019a4c01-768c-73f0-ba6e-6754d1dc0d98", "date": "2026-11-20", "date-time": "2026-11-20T08:00:00Z",
}

// exampleDepth bounds how deep an example follows objects within objects.
const exampleDepth = 6

// example is a value that fits a schema. Of a request it has the required fields, or all when none is; of an answer
// all.
func (s *schemas) example(schema object, name string, depth int) any {
	schema = s.resolved(schema)
	if choices, several := schema["anyOf"].([]object); several {
		schema = s.resolved(choices[0])
	}
	if texts, limited := schema["enum"].([]any); limited && len(texts) > 0 {
		return texts[0]
	}
	switch kindOf(schema) {
	case "string":
		format, _ := schema["format"].(string)
		return cmp.Or(exampleFormats[format], exampleTexts[name], "text")
	case "integer":
		return 1
	case "number":
		return 1500
	case "boolean":
		return true
	case "array":
		items, _ := schema["items"].(object)
		if depth > exampleDepth {
			return []any{}
		}
		return []any{s.example(items, strings.TrimSuffix(name, "s"), depth+1)}
	case "object":
		return s.exampleObject(schema, depth)
	}
	return nil
}

// exampleObject has the fields that example tells.
func (s *schemas) exampleObject(schema object, depth int) any {
	out := object{}
	properties, _ := schema["properties"].(object)
	required, _ := schema["required"].([]string)
	if depth > exampleDepth || schema["additionalProperties"] != false || len(required) == 0 {
		required = nil
		for name := range properties {
			required = append(required, name)
		}
	}
	for _, name := range required {
		field, _ := properties[name].(object)
		if depth <= exampleDepth {
			out[name] = s.example(field, name, depth+1)
		}
	}
	return out
}

// resolved follows a reference to a named schema.
func (s *schemas) resolved(schema object) object {
	ref, is := schema["$ref"].(string)
	if !is {
		return schema
	}
	target, _ := s.named[ref[strings.LastIndexByte(ref, '/')+1:]].(object)
	return target
}

// kindOf is the type of a schema, without null; "" = any value.
func kindOf(schema object) string {
	switch t := schema["type"].(type) {
	case string:
		return t
	case []string:
		return t[0]
	}
	return ""
}
