package httpapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// object is a JSON object under construction.
type object map[string]any

// pathParam matches a parameter of a path in httprouter's form, such as :id or *file.
var pathParam = regexp.MustCompile(`[:*]([A-Za-z]+)`)

// openAPIDocument makes the OpenAPI 3.1 document of one kind of host. It lists the routes that exist there and no
// others.
func openAPIDocument(routes []Route, kind Hosts) ([]byte, error) {
	whole, err := openAPI(routes, kind)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(whole)
	if err != nil {
		return nil, fmt.Errorf("write OpenAPI document: %w", err)
	}
	return text, nil
}

// openAPI is the document of one kind of host, or of several: where they differ at an address, it has the
// organization's, which names the shape of the root host's answer and its filters. It fails when two structs want the
// name of one schema.
func openAPI(routes []Route, kind Hosts) (object, error) {
	s := schemas{named: object{}, types: map[string]reflect.Type{}}
	errorBody := s.of(reflect.TypeFor[ErrorBody]())
	paths := map[string]object{}
	routes = slices.Clone(routes)
	slices.SortStableFunc(routes, func(a, b Route) int { // those that the root host adds to come first
		return int(b.Hosts&OnOrganization) - int(a.Hosts&OnOrganization)
	})
	for _, r := range routes {
		if r.Hosts&kind == 0 {
			continue
		}
		path := pathParam.ReplaceAllString(r.Path, "{$1}")
		if paths[path] == nil {
			paths[path] = object{}
		}
		method := strings.ToLower(r.Method)
		if both, _ := paths[path][method].(object); both == nil {
			paths[path][method] = operation(&r, &s)
		} else {
			addRootHost(both, &r, &s)
		}
	}
	if s.clash != nil {
		return nil, s.clash
	}
	return object{
		"openapi": "3.1.0",
		"info":    object{"title": "Lastmile", "version": "internal"},
		"paths":   paths,
		"components": object{
			"schemas": s.named,
			"parameters": object{"ExpectedUser": object{
				"name": headerExpectedUser, "in": "header", "schema": object{"type": "string", "format": "uuid"},
				"description": "With any call of somebody who is signed in: " + aboutExpectedUser + ".",
			}},
			"responses": object{"Error": object{"description": "The request did not succeed.",
				"content": object{"application/json": object{"schema": errorBody}}}},
			"securitySchemes": object{
				"cookie": object{"type": "apiKey", "in": "cookie", "name": CookieAccess},
				"bearer": object{"type": "http", "scheme": "bearer", "description": aboutBearer},
			},
		},
	}, nil
}

// addRootHost adds to the description of an organization's route what that of the root host has beside it: the shape of
// its answer, and filters.
func addRootHost(both object, r *Route, s *schemas) {
	if r.Response != nil {
		both["x-on-root-host"] = s.of(reflect.TypeOf(r.Response))
	}
	known, _ := both["parameters"].([]object)
	for _, p := range parameters(r) {
		if !slices.ContainsFunc(known, func(k object) bool { return k["name"] == p["name"] }) {
			p["x-on-root-host"] = true
			known = append(known, p)
		}
	}
	if len(known) > 0 {
		both["parameters"] = known
	}
}

// operation describes one route.
func operation(r *Route, s *schemas) object {
	op := object{
		"summary":     r.Summary,
		"operationId": operationID(r),
		"tags":        []string{r.tag()},
		"responses": object{strconv.Itoa(r.Status): answer(r, s),
			"default": object{"$ref": "#/components/responses/Error"}},
		"x-access":      string(r.Access),
		"x-error-codes": r.codes(),
		"security":      []object{},
	}
	if role := r.Access.Role(); role != "" {
		op["security"] = []object{{"cookie": []string{}}, {"bearer": []string{}}}
	}
	if r.takesKeys() {
		op["x-scope"] = r.scope()
	}
	for status, body := range r.Answers {
		op["responses"].(object)[strconv.Itoa(status)] = object{"description": http.StatusText(status),
			"content": object{"application/json": object{"schema": s.of(reflect.TypeOf(body))}}}
	}
	if params := parameters(r); len(params) > 0 {
		op["parameters"] = params
	}
	if r.Request == nil && r.takesBody {
		op["requestBody"] = object{
			"required": true, "content": object{r.Accepts: object{"schema": object{"type": "string"}}},
		}
	}
	_, own := r.Answers[http.StatusAccepted]
	if r.mutates() && r.Response != nil && r.Access.Role() != "" && r.Status != http.StatusAccepted && !own {
		op["responses"].(object)["202"] = object{"description": "Accepted; it will be shown shortly.",
			"content": object{"application/json": object{"schema": s.of(reflect.TypeFor[Accepted]())}}}
	}
	if r.Request != nil {
		s.closed = true
		defer func() { s.closed = false }()
		schema := s.of(reflect.TypeOf(r.Request))
		op["requestBody"] = object{"required": needsBody(reflect.TypeOf(r.Request)),
			"content": object{r.Accepts: object{"schema": schema, "example": s.example(schema, "", 0)}}}
	}
	return op
}

// tag is the group of a route: the first part of its path.
func (r *Route) tag() string {
	return cmp.Or(strings.Split(strings.Trim(r.Path, "/")+"/", "/")[0], "index")
}

// operationID makes one word of method and path, such as getInvoicesId.
func operationID(r *Route) string {
	words := []string{strings.ToLower(r.Method)}
	for _, part := range strings.FieldsFunc(r.Path,
		func(b rune) bool { return b == '/' || b == '-' || b == ':' || b == '.' }) {
		words = append(words, strings.ToUpper(part[:1])+part[1:])
	}
	return strings.Join(words, "")
}

// needsBody reports whether a request without a body would lack a required field.
func needsBody(t reflect.Type) bool {
	return t.Kind() != reflect.Struct || slices.ContainsFunc(fieldsOf(t), func(f field) bool { return f.required })
}

// answer describes the answer to a request that succeeds.
func answer(r *Route, s *schemas) object {
	out := object{"description": "Success."}
	var schema object
	contentType := "application/json"
	switch {
	case r.Row != nil:
		schema = object{"type": "object", "required": []string{"data", "nextCursor", "hasMore"}, "properties": object{
			"data":       object{"type": "array", "items": s.of(reflect.TypeOf(r.Row))},
			"nextCursor": object{"type": []string{"string", "null"}}, "hasMore": object{"type": "boolean"}}}
	case r.Response != nil:
		schema = s.of(reflect.TypeOf(r.Response))
		if r.Stream {
			contentType, out["description"] = r.Produces, "Server-sent events: the schema is of the data of each."
		}
	case r.Produces == contentType:
		schema = object{"type": "object"}
	case r.Produces != "":
		contentType, schema = r.Produces, object{"type": "string"}
	default:
		return out
	}
	content := object{"schema": schema}
	if r.Row != nil || r.Response != nil {
		content["example"] = s.example(schema, "", 0)
	}
	out["content"] = object{contentType: content}
	return out
}

// parameters lists path, query and header parameters; limit and cursor are added for lists.
func parameters(r *Route) []object {
	var out []object
	for _, m := range pathParam.FindAllStringSubmatch(r.Path, -1) {
		out = append(out, object{"name": m[1], "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	query := r.Query
	if r.Row != nil {
		query = append(slices.Clip(query), Param{Name: "cursor", Type: "string", Doc: "nextCursor of the page before"})
		out = append(out, object{"name": "limit", "in": "query",
			"schema": object{"type": "integer", "minimum": 1, "maximum": maxPage, "default": defaultPage}})
	}
	for _, p := range query {
		out = append(out, object{"name": p.Name, "in": "query", "description": p.Doc, "schema": paramSchema(p)})
	}
	if r.mutates() && !r.IgnoresIdempotency {
		out = append(out, object{
			"name": "Idempotency-Key", "in": "header", "schema": object{
				"type": "string", "minLength": 1, "maxLength": 255,
			},
		})
	}
	return out
}

// paramSchema is the schema of a query parameter.
func paramSchema(p Param) object {
	switch p.Type {
	case "uuid", "date", "date-time":
		return object{"type": "string", "format": p.Type}
	case "integer", "boolean":
		return object{"type": p.Type}
	}
	if p.Enum != nil {
		return object{"type": "string", "enum": p.Enum}
	}
	return object{"type": "string"}
}
