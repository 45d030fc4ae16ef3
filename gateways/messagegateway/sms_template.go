package messagegateway

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Template describes a provider that speaks another way, as a file in JSON. The words {user}, {key}, {from}, {to},
// {text} and {id} are replaced in headers, query and body, in the form that each needs.
type Template struct {
	Method  string            `json:"method"` // POST when empty
	Headers map[string]string `json:"headers"`
	Query   map[string]string `json:"query"`
	// Body is JSON with words in its texts, or a form as an object of texts, by Content-Type; null for none.
	Body json.RawMessage `json:"body"`
	// Taken says by which field of a 2xx answer in JSON the provider has taken a message. Without a field each 2xx has.
	Taken TemplateField `json:"taken"`
	// Refused has values of the field of Taken, each with its code: "address_refused", "opted_out" or
	// "gateway_refused".
	Refused   map[string]string `json:"refused"`
	Reference string            `json:"reference"` // path of the provider's id of a message, such as "messages.0.id"
	Cost      string            `json:"cost"`      // path of its price
	Report    TemplateReport    `json:"report"`
}

// TemplateField is a field of an answer and the values that say yes.
type TemplateField struct {
	Path   string   `json:"path"`
	Values []string `json:"values"`
}

// form is the content type of a form.
const form = "application/x-www-form-urlencoded"

// ReadTemplate reads a template. Unknown fields and codes are errors.
func ReadTemplate(file []byte) (Template, error) {
	var t Template
	d := json.NewDecoder(bytes.NewReader(file))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return Template{}, fmt.Errorf("sms template: %w", err)
	}
	for value, code := range t.Refused {
		if code != CodeAddress && code != CodeBlocked && code != CodeRejected {
			return Template{}, fmt.Errorf("sms template: refused %q must be %s, %s or %s", value, CodeAddress,
				CodeBlocked, CodeRejected)
		}
	}
	if (t.Taken.Path == "") != (len(t.Taken.Values) == 0) {
		return Template{}, errors.New("sms template: taken needs a path and values")
	}
	if _, err := t.request(context.Background(), templateProvider{t: t, address: "https://example.com"},
		SMS{}); err != nil {
		return Template{}, fmt.Errorf("sms template: %w", err)
	}
	return t, nil
}

// NewTemplateTexter makes a texter for a provider that a template describes. Its address has user and key as that of
// NewTexter, each of which may be missing.
func NewTemplateTexter(address string, t Template, cfg Config) (*Texter, error) {
	u, err := smsAddress(address)
	if err != nil {
		return nil, err
	}
	p := templateProvider{t: t, user: u.User.Username(), from: u.Query().Get("from")}
	p.key, _ = u.User.Password()
	u.User, u.RawQuery = nil, ""
	p.address = u.String()
	return newTexter(KindSMS, p, u.Hostname(), cfg), nil
}

// templateProvider is a provider that a template describes.
type templateProvider struct {
	t                        Template
	address, user, key, from string
}

// String hides the key.
func (p templateProvider) String() string { return p.address }

// GoString hides the key from %#v, too.
func (p templateProvider) GoString() string { return p.address }

// request fills the template.
func (p templateProvider) request(ctx context.Context, of SMS) (*http.Request, error) {
	return p.t.request(ctx, p, of)
}

// request fills the words of a message and its provider in.
func (t Template) request(ctx context.Context, p templateProvider, of SMS) (*http.Request, error) {
	words := strings.NewReplacer("{user}", p.user, "{key}", p.key, "{from}", p.from, "{to}", of.To, "{text}", of.Text,
		"{id}", of.ID)
	u, err := url.Parse(p.address)
	if err != nil {
		return nil, err
	}
	query := url.Values{}
	for name, value := range t.Query {
		query.Set(name, words.Replace(value))
	}
	u.RawQuery = query.Encode()
	contentType := cmp.Or(header(t.Headers).Get("Content-Type"), "application/json")
	body, err := t.body(contentType, words)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, cmp.Or(t.Method, http.MethodPost), u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if len(body) > 0 {
		r.Header.Set("Content-Type", contentType)
	}
	for name, value := range t.Headers {
		r.Header.Set(name, words.Replace(value))
	}
	return r, nil
}

// header gives names their canonical spelling.
func header(of map[string]string) http.Header {
	h := http.Header{}
	for name, value := range of {
		h.Set(name, value)
	}
	return h
}

// body fills the texts of the body. Whatever a message says, it stays within its text.
func (t Template) body(contentType string, words *strings.Replacer) ([]byte, error) {
	if len(t.Body) == 0 || string(t.Body) == "null" {
		return nil, nil
	}
	if strings.HasPrefix(contentType, form) {
		var fields map[string]string
		if err := json.Unmarshal(t.Body, &fields); err != nil {
			return nil, errors.New("the body of a form must be an object of texts")
		}
		values := url.Values{}
		for name, value := range fields {
			values.Set(name, words.Replace(value))
		}
		return []byte(values.Encode()), nil
	}
	var tree any
	if err := json.Unmarshal(t.Body, &tree); err != nil {
		return nil, err
	}
	return json.Marshal(filled(tree, words))
}

// filled replaces the words in all texts of a JSON value.
func filled(of any, words *strings.Replacer) any {
	switch of := of.(type) {
	case string:
		return words.Replace(of)
	case []any:
		for i := range of {
			of[i] = filled(of[i], words)
		}
	case map[string]any:
		for name := range of {
			of[name] = filled(of[name], words)
		}
	}
	return of
}

// read judges an answer by the template.
func (p templateProvider) read(status int, body []byte) (Taken, error) {
	if err := byStatus(status); err != nil {
		return Taken{}, err
	}
	var tree any
	broken := json.Unmarshal(body, &tree) != nil
	taken := Taken{Reference: at(tree, p.t.Reference), Cost: at(tree, p.t.Cost)}
	if p.t.Taken.Path == "" {
		return taken, nil
	}
	value := at(tree, p.t.Taken.Path)
	switch code := p.t.Refused[value]; {
	case broken:
		return Taken{}, unreadable(body, "an SMS provider")
	case slices.Contains(p.t.Taken.Values, value):
		return taken, nil
	case code != "":
		return Taken{}, refused(code, value)
	}
	return Taken{}, fmt.Errorf("the provider took no message: %s", refused(CodeRejected, value).Text)
}

// at gives the value at a path of names and numbers with dots between them, as text; "" when there is none.
func at(tree any, path string) string {
	if path == "" {
		return ""
	}
	for part := range strings.SplitSeq(path, ".") {
		switch in := tree.(type) {
		case map[string]any:
			tree = in[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(in) {
				return ""
			}
			tree = in[i]
		default:
			return ""
		}
	}
	switch value := tree.(type) {
	case string:
		return value
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(value)
	}
	return ""
}
