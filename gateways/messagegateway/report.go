package messagegateway

import (
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
)

// Report tells what became of a text that the provider took.
type Report struct {
	Reference string // that of Taken
	Outcome   Outcome
	Reason    string // why it did not arrive, in the provider's words
}

// Outcome is the end of a text, or that it has none yet.
type Outcome string

// The outcomes.
const (
	OnItsWay    Outcome = "" // another report follows
	Delivered   Outcome = "delivered"
	Undelivered Outcome = "undelivered"
)

// errNoReport is the failure of a body that is no report of this provider.
var errNoReport = errors.New("this is no report of the provider")

// maxReference bounds a reference, in bytes. Real ones are under 50.
const maxReference = 200

// names reports whether it says which message it is about.
func (r Report) names() bool { return r.Reference != "" && len(r.Reference) <= maxReference }

// ReadReports reads what the provider posts: a form, or JSON where its template says so, with one report, and that of
// WhatsApp with any number. It fails for anything else.
func (t *Texter) ReadReports(body []byte) ([]Report, error) {
	list, err := t.form.reports(body)
	for i, r := range list {
		if !r.names() {
			return nil, errNoReport
		}
		list[i].Reason = refused("", r.Reason).Text
	}
	return list, err
}

// reports reads a form. What is neither an end nor a known step on the way is none: another report follows.
func (formProvider) reports(body []byte) ([]Report, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, errNoReport
	}
	r := Report{Reference: form.Get("id")}
	switch status := form.Get("status"); status {
	case "Success":
		r.Outcome = Delivered
	case "Rejected", "Failed", "AbsentSubscriber", "Expired":
		r.Outcome, r.Reason = Undelivered, form.Get("failureReason")
		if r.Reason == "" {
			r.Reason = status
		}
	}
	return []Report{r}, nil
}

// TemplateReport says how a provider reports about messages: a JSON object or a form, by the first byte of its body.
type TemplateReport struct {
	Reference   string   `json:"reference"`   // path of the provider's id of the message
	Status      string   `json:"status"`      // path of the status
	Delivered   []string `json:"delivered"`   // statuses of what has arrived
	Undelivered []string `json:"undelivered"` // statuses of what will not arrive
	Reason      string   `json:"reason"`      // path of the reason; the status when empty
}

// reports reads what the template describes.
func (p templateProvider) reports(body []byte) ([]Report, error) {
	of := p.t.Report
	if of.Reference == "" {
		return nil, errNoReport
	}
	var tree any
	if text := strings.TrimSpace(string(body)); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		if json.Unmarshal(body, &tree) != nil {
			return nil, errNoReport
		}
	} else {
		form, err := url.ParseQuery(text)
		if err != nil {
			return nil, errNoReport
		}
		fields := map[string]any{}
		for name := range form {
			fields[name] = form.Get(name)
		}
		tree = fields
	}
	r := Report{Reference: at(tree, of.Reference)}
	switch status := at(tree, of.Status); {
	case slices.Contains(of.Delivered, status):
		r.Outcome = Delivered
	case slices.Contains(of.Undelivered, status):
		r.Outcome, r.Reason = Undelivered, at(tree, of.Reason)
		if r.Reason == "" {
			r.Reason = status
		}
	}
	return []Report{r}, nil
}
