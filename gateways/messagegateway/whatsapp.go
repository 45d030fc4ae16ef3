package messagegateway

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// Approved is a text that WhatsApp has approved before, with the values of its places in their order. Businesses begin
// a conversation with no other text.
type Approved struct {
	Name     string
	Language string // such as "en"
	Values   []string
}

// NewWhatsApp makes a texter for an address such as https://NUMBER:TOKEN@graph.facebook.com/v23.0: NUMBER is the id of
// the sender's phone number, TOKEN that of a system user. Nothing is called yet.
func NewWhatsApp(address string, cfg Config) (*Texter, error) {
	u, err := smsAddress(address)
	if err != nil {
		return nil, err
	}
	token, _ := u.User.Password()
	number := u.User.Username()
	if number == "" || token == "" || strings.ContainsAny(number, "/?#%") {
		return nil, errors.New("must have the sender's number and a token: https://number:token@host/version")
	}
	u.User, u.RawQuery = nil, ""
	form := cloudProvider{address: u.JoinPath(number, "messages").String(), token: token}
	return newTexter(KindWhatsApp, form, u.Hostname(), cfg), nil
}

// cloudProvider speaks as the Cloud API of WhatsApp does. Source: docs/facts/messaging.md#whatsapp.
type cloudProvider struct{ address, token string }

// String hides the token.
func (p cloudProvider) String() string { return p.address }

// GoString hides the token from %#v, too.
func (p cloudProvider) GoString() string { return p.address }

// cloudMessage is a message on the wire.
type cloudMessage struct {
	Product  string        `json:"messaging_product"`
	To       string        `json:"to"` // digits
	Type     string        `json:"type"`
	Template cloudTemplate `json:"template"`
}

// cloudTemplate is an approved text with its values.
type cloudTemplate struct {
	Name     string `json:"name"`
	Language struct {
		Code string `json:"code"`
	} `json:"language"`
	Components []cloudComponent `json:"components,omitempty"`
}

// cloudComponent has the values of one part of a text.
type cloudComponent struct {
	Type       string       `json:"type"`
	Parameters []cloudValue `json:"parameters"`
}

// cloudValue fills one place of a text.
type cloudValue struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// request makes JSON, with the token in a header. WhatsApp refuses empty values.
func (p cloudProvider) request(ctx context.Context, of SMS) (*http.Request, error) {
	m := cloudMessage{Product: "whatsapp", To: strings.TrimPrefix(of.To, "+"), Type: "template"}
	m.Template.Name, m.Template.Language.Code = of.Approved.Name, of.Approved.Language
	var values []cloudValue
	for _, value := range of.Approved.Values {
		if value = strings.Join(strings.Fields(value), " "); value == "" {
			value = "-"
		}
		values = append(values, cloudValue{Type: "text", Text: value})
	}
	if len(values) > 0 {
		m.Template.Components = []cloudComponent{{Type: "body", Parameters: values}}
	}
	body, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+p.token)
	return r, nil
}

// cloudAnswer is the answer on the wire.
type cloudAnswer struct {
	Messages []struct {
		ID string `json:"id"`
	} `json:"messages"`
	Error *cloudError `json:"error"`
}

// cloudError tells what is wrong, in an answer and in a report.
type cloudError struct {
	Code    int    `json:"code"`
	Title   string `json:"title"`
	Message string `json:"message"`
	Data    struct {
		Details string `json:"details"`
	} `json:"error_data"`
}

// text gives its words, the longest first.
func (e cloudError) text() string {
	for _, text := range []string{e.Data.Details, e.Message, e.Title} {
		if text != "" {
			return fmt.Sprintf("%s (%d)", text, e.Code)
		}
	}
	return fmt.Sprintf("error %d", e.Code)
}

// Codes of errors that are about one message (docs/facts/messaging.md#whatsapp). All others are about the sender.
var (
	cloudAddress = []int{131021, 131026, 131030} // the sender's own number, cannot be reached, not a number of tests
	cloudBlocked = []int{131049, 131050}         // gets too much of that kind already, wants none of it
	cloudText    = []int{100, 131008, 131009, 132000, 132001, 132005, 132007, 132012, 132015, 132016}
)

// read looks for the id of the message. An error is told in the body, with whatever status.
func (cloudProvider) read(status int, body []byte) (Taken, error) {
	var a cloudAnswer
	broken := json.Unmarshal(body, &a)
	if broken != nil || a.Error == nil {
		switch err := byStatus(status); {
		case err != nil:
			return Taken{}, err
		case broken != nil:
			return Taken{}, unreadable(body, "WhatsApp")
		}
		if len(a.Messages) == 0 || a.Messages[0].ID == "" {
			return Taken{}, fmt.Errorf("%w: the answer names no message", ErrUnclear)
		}
		return Taken{Reference: a.Messages[0].ID}, nil
	}
	switch e := *a.Error; {
	case slices.Contains(cloudAddress, e.Code):
		return Taken{}, refused(CodeAddress, e.text())
	case slices.Contains(cloudBlocked, e.Code):
		return Taken{}, refused(CodeBlocked, e.text())
	case slices.Contains(cloudText, e.Code):
		return Taken{}, refused(CodeTemplate, e.text())
	default:
		return Taken{}, fmt.Errorf("WhatsApp took no message: %s", refused(CodeRejected, e.text()).Text)
	}
}

// cloudNotice is a body that WhatsApp posts: news about messages, and others that do not concern us.
type cloudNotice struct {
	Object string `json:"object"`
	Entry  []struct {
		Changes []struct {
			Value struct {
				Statuses []struct {
					ID     string       `json:"id"`
					Status string       `json:"status"`
					Errors []cloudError `json:"errors"`
				} `json:"statuses"`
			} `json:"value"`
		} `json:"changes"`
	} `json:"entry"`
}

// reports reads the statuses of messages. What customers write back is left alone.
func (cloudProvider) reports(body []byte) (list []Report, err error) {
	var n cloudNotice
	if json.Unmarshal(body, &n) != nil || n.Object != "whatsapp_business_account" {
		return nil, errNoReport
	}
	for _, entry := range n.Entry {
		for _, change := range entry.Changes {
			for _, s := range change.Value.Statuses {
				r := Report{Reference: s.ID}
				if !r.names() { // the others of the body count, which WhatsApp would repeat for days
					continue
				}
				switch s.Status {
				case "delivered", "read":
					r.Outcome = Delivered
				case "failed":
					r.Outcome, r.Reason = Undelivered, "failed"
					if len(s.Errors) > 0 {
						r.Reason = s.Errors[0].text()
					}
				}
				list = append(list, r)
			}
		}
	}
	return list, nil
}

// SignedByWhatsApp reports whether a body is signed with the secret of our app, as the header X-Hub-Signature-256 says.
func SignedByWhatsApp(body []byte, signature string, secret secrets.Text) bool {
	said, err := hex.DecodeString(strings.TrimPrefix(signature, "sha256="))
	if err != nil || !strings.HasPrefix(signature, "sha256=") {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret.Reveal()))
	mac.Write(body)
	return hmac.Equal(said, mac.Sum(nil))
}
