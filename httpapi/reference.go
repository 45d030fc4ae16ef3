package httpapi

import (
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// reference is the API of one kind of host for people: /docs. It is made once, of the same table as /openapi.json.
type reference struct {
	Groups []referenceGroup
	whole  *madePage
}

// referenceGroup has the operations of one tag.
type referenceGroup struct {
	Name       string
	Operations []referenceOperation
}

// referenceOperation is one endpoint as the page shows it.
type referenceOperation struct {
	ID, Method, Path, Summary string

	Roles, Hosts string
	Parameters   []referenceField
	BodyType     string // "" = no body
	Body         []referenceField
	Example      string // of the body
	Answers      []referenceAnswer
	Curl         string // with originMark in the place of the host's address
	Codes        []failureCode

	words string // lower case, for the search
	text  piece  // as the page shows it
}

// referenceAnswer is one answer that is no failure.
type referenceAnswer struct {
	Status  string
	Type    string // content type; "" = no body
	Fields  []referenceField
	Example string
}

// referenceField is a parameter, or a field of a body by its path in it, such as lines[].amount.
type referenceField struct {
	Name, Type, Doc string
	Words           string // the only values
	Required        bool
}

// originMark stands for the address of the host in commands, until a request tells it.
const originMark = "https://origin.invalid"

// newReference makes the page's content for one kind of host.
func newReference(routes []Route, kind Hosts) (*reference, error) {
	s := schemas{named: object{}, types: map[string]reflect.Type{}}
	groups := map[string][]referenceOperation{}
	for _, r := range routes {
		if r.Hosts&kind == 0 {
			continue
		}
		op, err := newOperation(&r, &s)
		if err == nil {
			op.text, err = rendered("operation", op)
		}
		if err != nil {
			return nil, fmt.Errorf("reference of %s %s: %w", r.Method, r.Path, err)
		}
		groups[r.tag()] = append(groups[r.tag()], op)
	}
	out := &reference{}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		slices.SortStableFunc(groups[name],
			func(a, b referenceOperation) int { return strings.Compare(a.Path, b.Path) })
		out.Groups = append(out.Groups, referenceGroup{name, groups[name]})
	}
	whole, err := out.page(kind, "")
	if err != nil {
		return nil, err
	}
	out.whole = whole.keep()
	return out, nil
}

// newOperation describes one route.
func newOperation(r *Route, s *schemas) (referenceOperation, error) {
	described := operation(r, s)
	op := referenceOperation{
		ID: operationID(r), Method: r.Method, Path: pathParam.ReplaceAllString(r.Path, "{$1}"), Summary: r.Summary,
		Roles: rolesOf(r.Access), Hosts: hostsOf(r.Hosts), Codes: listed(r.codes()),
	}
	if r.takesKeys() {
		op.Roles += "; an API key with the scope " + r.scope()
	}
	parameters, _ := described["parameters"].([]object)
	for _, p := range parameters {
		schema, _ := p["schema"].(object)
		name, _ := p["name"].(string)
		in, _ := p["in"].(string)
		doc, _ := p["description"].(string)
		switch in {
		case "header":
			doc = "header; a repeat with the same key acts once"
		case "path":
			doc = "in the path"
		}
		op.Parameters = append(op.Parameters, referenceField{
			Name: name, Type: typeText(s, schema), Words: wordsOf(schema), Required: p["required"] == true,
			Doc: doc,
		})
	}
	if body, has := described["requestBody"].(object); has {
		answer := referenceAnswer{}
		if err := s.show(body, &answer); err != nil {
			return op, err
		}
		op.BodyType, op.Body, op.Example = answer.Type, answer.Fields, answer.Example
	}
	responses, _ := described["responses"].(object)
	for _, status := range slices.Sorted(maps.Keys(responses)) {
		if status == "default" {
			continue
		}
		code, _ := strconv.Atoi(status) // our own figures
		answer := referenceAnswer{Status: failureCode{Status: code}.StatusText()}
		response, _ := responses[status].(object)
		if err := s.show(response, &answer); err != nil {
			return op, err
		}
		op.Answers = append(op.Answers, answer)
	}
	op.Curl = curl(r, op.Example)
	op.words = strings.ToLower(strings.Join([]string{op.ID, op.Method, op.Path, op.Summary, op.Roles}, " "))
	return op, nil
}

// show fills in what a body in the document has: its type, fields and example.
func (s *schemas) show(described object, into *referenceAnswer) error {
	content, _ := described["content"].(object)
	for kind, body := range content {
		part, _ := body.(object)
		schema, _ := part["schema"].(object)
		into.Type, into.Fields = kind, s.fields(schema, "", 0)
		if example, has := part["example"]; has {
			text, err := json.MarshalIndent(example, "", "  ")
			if err != nil {
				return err
			}
			into.Example = string(text)
		}
	}
	return nil
}

// fields lists the fields of a schema and of the objects in it, each with its path.
func (s *schemas) fields(schema object, at string, depth int) []referenceField {
	schema = s.resolved(schema)
	if choices, several := schema["anyOf"].([]object); several {
		schema = s.resolved(choices[0])
	}
	if items, list := schema["items"].(object); list {
		return s.fields(items, at+"[]", depth)
	}
	properties, _ := schema["properties"].(object)
	required, _ := schema["required"].([]string)
	var out []referenceField
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		field, _ := properties[name].(object)
		doc, _ := field["description"].(string)
		path := strings.TrimPrefix(at+"."+name, ".")
		out = append(out, referenceField{
			Name: path, Type: typeText(s, field), Words: wordsOf(field), Doc: doc,
			Required: slices.Contains(required, name),
		})
		if depth < exampleDepth {
			out = append(out, s.fields(field, path, depth+1)...)
		}
	}
	return out
}

// typeText is the type of a value in words.
func typeText(s *schemas, schema object) string {
	schema = s.resolved(schema)
	if choices, several := schema["anyOf"].([]object); several {
		return typeText(s, choices[0]) + " or null"
	}
	text := kindOf(schema)
	if format, has := schema["format"].(string); has {
		text = format
	}
	if items, list := schema["items"].(object); list {
		text = "list of " + typeText(s, items)
	}
	if text == "" {
		text = "any"
	}
	if types, several := schema["type"].([]string); several && len(types) > 1 {
		text += " or null"
	}
	return text
}

// wordsOf joins the only values of a schema.
func wordsOf(schema object) string {
	var words []string
	switch enum := schema["enum"].(type) {
	case []any:
		for _, word := range enum {
			if text, is := word.(string); is {
				words = append(words, text)
			}
		}
	case []string:
		words = enum
	}
	return strings.Join(words, ", ")
}

// rolesOf says who may call.
func rolesOf(a Access) string {
	switch a {
	case AccessPublic:
		return "everybody, without a sign-in"
	case AccessInternal:
		return "our own installations, by their key"
	case AccessSuperAdmin:
		return "super_admin"
	case AccessSubscriberOrAdmin:
		return "a subscriber for what is theirs, or admin and higher"
	case AccessSubscriber, AccessSupport, AccessAdmin:
	}
	return string(a) + " and higher"
}

// hostsOf says where a route exists.
func hostsOf(h Hosts) string {
	switch h {
	case OnOrganization:
		return "an organization's host"
	case OnRoot:
		return "the root host"
	case OnBoth:
		return "an organization's host and the root host"
	}
	return "every host"
}

// curl is a command that calls a route. $TOKEN is the access token of a sign-in, and names in capitals are to be
// filled in.
func curl(r *Route, body string) string {
	path := pathParam.ReplaceAllStringFunc(r.Path, func(name string) string { return "$" + strings.ToUpper(name[1:]) })
	parts := []string{"curl -s"}
	if r.Method != "GET" && (r.Method != "POST" || body == "") {
		parts[0] += " -X " + r.Method
	}
	parts[0] += ` "` + originMark + path + `"`
	if r.Access.Role() != "" {
		parts = append(parts, `-H "Authorization: Bearer $TOKEN"`)
	}
	if body != "" {
		parts = append(parts, "-H 'Content-Type: "+r.Accepts+"'",
			"-d '"+strings.ReplaceAll(body, "'", `'\''`)+"'")
	}
	return strings.Join(parts, " \\\n  ")
}

// referenceTemplate fills the page; all values are escaped.
var referenceTemplate = template.Must(template.New("reference").Parse(referenceHTML))
