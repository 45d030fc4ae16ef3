package taxgateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// maxAnswer bounds an answer, in bytes. Real ones are under 1 KiB.
const maxAnswer = 64 << 10

// Bounds of what is taken from an answer, in bytes. A square code with more than maxVerification cannot be read from
// paper.
const (
	maxControl      = 64
	maxVerification = 300
	maxCode         = 64
	maxMessage      = 500
)

// ErrUnknownDocument is the answer of Find about a document that the gateway does not have: it may be handed over.
var ErrUnknownDocument = errors.New("the tax gateway has no such document")

// wireDocument is a document on the wire. Source: docs/facts/tax-gateway.md#protocol.
type wireDocument struct {
	ID       string     `json:"id"`
	Kind     string     `json:"kind"`
	Number   string     `json:"number"`
	Original string     `json:"originalControlNumber,omitempty"`
	Device   string     `json:"device"`
	Branch   string     `json:"branch"`
	Seller   wireParty  `json:"seller"`
	Buyer    wireParty  `json:"buyer"`
	IssuedAt time.Time  `json:"issuedAt"`
	Currency string     `json:"currency"`
	Lines    []wireLine `json:"lines"`
	Net      string     `json:"net"`
	Taxes    []wireTax  `json:"taxes"`
	Total    string     `json:"total"`
}

// wireParty is a seller or a buyer on the wire.
type wireParty struct {
	PIN  string `json:"pin,omitempty"`
	Name string `json:"name,omitempty"`
}

// wireLine is a charge on the wire.
type wireLine struct {
	Description string `json:"description"`
	Quantity    string `json:"quantity"`
	Net         string `json:"net"`
	Total       string `json:"total"`
}

// wireTax is a tax on the wire; its rate is in hundredths of a percent.
type wireTax struct {
	Name        string `json:"name"`
	BasisPoints int64  `json:"basisPoints"`
	Amount      string `json:"amount"`
}

// wireOutcome is an answer about a document.
type wireOutcome struct {
	Status        string    `json:"status"` // signed or refused
	ControlNumber string    `json:"controlNumber"`
	Verification  string    `json:"verification"`
	SignedAt      time.Time `json:"signedAt"`
	Code          string    `json:"code"`
	Message       string    `json:"message"`
}

// Submit hands a document over. An error means that nobody knows whether it was taken: ask with Find, or hand the same
// document over again. Fails: tax_gateway_denied, tax_gateway_unavailable.
func (c *Client) Submit(ctx context.Context, by Device, d Document) (Outcome, error) {
	body, err := json.Marshal(wire(by, d))
	if err != nil {
		return Outcome{}, fmt.Errorf("write document: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(by.Address, "/")+"/documents",
		bytes.NewReader(body))
	if err != nil {
		return Outcome{}, fmt.Errorf("address of the tax gateway: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	return c.ask(ctx, "submit", by, r)
}

// Find asks what became of a document. Fails: ErrUnknownDocument, and as Submit.
func (c *Client) Find(ctx context.Context, by Device, document string) (Outcome, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet,
		strings.TrimRight(by.Address, "/")+"/documents/"+url.PathEscape(document), nil)
	if err != nil {
		return Outcome{}, fmt.Errorf("address of the tax gateway: %w", err)
	}
	return c.ask(ctx, "find", by, r)
}

// wire writes amounts as decimal numbers of the currency.
func wire(by Device, d Document) wireDocument {
	w := wireDocument{
		ID: d.ID, Kind: d.Kind, Number: d.Number, Original: d.Original, Device: by.Serial, Branch: by.Branch,
		Seller: wireParty(d.Seller), Buyer: wireParty(d.Buyer), IssuedAt: d.IssuedAt.UTC(),
		Currency: string(d.Total.Currency), Lines: []wireLine{}, Net: d.Net.Decimal(), Taxes: []wireTax{},
		Total: d.Total.Decimal(),
	}
	for _, l := range d.Lines {
		w.Lines = append(w.Lines, wireLine{l.Description, l.Quantity, l.Net.Decimal(), l.Total.Decimal()})
	}
	for _, t := range d.Taxes {
		w.Taxes = append(w.Taxes, wireTax{t.Name, t.BasisPoints, t.Amount.Decimal()})
	}
	return w
}

// ask sends one request through the breaker, once, and reads its answer. The breaker is that of the whole address: who
// types a wrong one at the host of a gateway keeps nobody else from it.
func (c *Client) ask(ctx context.Context, operation string, by Device, r *http.Request) (out Outcome, err error) {
	if err := c.Check(by.Address); err != nil {
		return Outcome{}, unavailable(err)
	}
	r.Header.Set("Authorization", "Bearer "+by.Secret)
	r.Header.Set("Accept", "application/json")
	target, began := host(by.Address), c.clock.Now()
	err = c.guard.Do(ctx, BreakerKind, strings.TrimRight(by.Address, "/"), func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, c.timeout)
		defer cancel()
		out, err = c.roundTrip(r.WithContext(ctx))
		return err
	})
	outcome := "unknown"
	switch {
	case out.Signature != nil:
		outcome = "signed"
	case out.Refusal != nil:
		outcome = "refused"
	}
	c.log.InfoContext(ctx, "tax gateway call", "system", BreakerKind, "operation", operation, "target", target,
		"duration", c.clock.Now().Sub(began), "outcome", outcome)
	if errors.Is(err, ErrUnknownDocument) {
		return Outcome{}, ErrUnknownDocument
	}
	return out, unavailable(err)
}

// roundTrip makes the exchange. What is certainly the gateway's own answer does not count against it.
func (c *Client) roundTrip(r *http.Request) (Outcome, error) {
	w, err := c.http.Do(r)
	if err != nil {
		return Outcome{}, err
	}
	defer w.Body.Close()
	body, err := io.ReadAll(io.LimitReader(w.Body, maxAnswer+1))
	switch {
	case err != nil:
		return Outcome{}, fmt.Errorf("read answer: %w", err)
	case len(body) > maxAnswer:
		return Outcome{}, errors.New("answer is too large")
	case w.StatusCode == http.StatusUnauthorized, w.StatusCode == http.StatusForbidden:
		return Outcome{}, breaker.Answered(denied(w.StatusCode))
	case w.StatusCode == http.StatusNotFound && r.Method == http.MethodGet && unknown(body):
		return Outcome{}, breaker.Answered(ErrUnknownDocument)
	}
	return read(w.StatusCode, body)
}

// unknown reports whether an answer says that there is no such document. Any other 404 says that the address is wrong.
func unknown(body []byte) bool {
	var o wireOutcome
	return json.Unmarshal(body, &o) == nil && o.Code == "document_not_found"
}

// read takes an answer apart. One that is not certainly signed or refused is an error: nobody knows what happened.
func read(status int, body []byte) (Outcome, error) {
	var o wireOutcome
	if err := json.Unmarshal(body, &o); err != nil {
		return Outcome{}, fmt.Errorf("answer with status %d cannot be read", status)
	}
	switch {
	case o.Status == "signed" && (status == http.StatusOK || status == http.StatusCreated):
		if !sound(o.ControlNumber, maxControl) || !sound(o.Verification, maxVerification) || o.SignedAt.IsZero() {
			return Outcome{}, errors.New("answer has no usable signature")
		}
		return Outcome{Signature: &Signature{
			ControlNumber: o.ControlNumber, Verification: o.Verification, At: o.SignedAt.UTC(),
		}}, nil
	case o.Status == "refused" && status == http.StatusUnprocessableEntity && sound(o.Code, maxCode):
		return Outcome{Refusal: &Refusal{Code: o.Code, Message: plain(o.Message)}}, nil
	}
	return Outcome{}, fmt.Errorf("answer with status %d is neither a signature nor a refusal", status)
}

// sound reports whether a text is printable ASCII without spaces at its ends, and neither empty nor too long.
func sound(text string, most int) bool {
	for _, r := range text {
		if r < ' ' || r > '~' {
			return false
		}
	}
	return text != "" && len(text) <= most && strings.TrimSpace(text) == text
}

// plain makes a text that people read of what a gateway says: without control characters, and of a limited length.
func plain(text string) string {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, text))
	for len(text) > maxMessage {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}

// denied is the failure of a gateway that does not accept the device or its secret.
func denied(status int) error {
	return &failure.Error{
		Kind: failure.Refused, Code: "tax_gateway_denied",
		Message: "The tax gateway does not accept this device or its secret. Check the settings.",
		Cause:   fmt.Errorf("status %d", status),
	}
}

// unavailable gives a transport error, and the refusal of an open breaker, the code tax_gateway_unavailable with its
// text. Any other failure stays as it is.
func unavailable(err error) error {
	var known *failure.Error
	var wait time.Duration
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known) && known.Code != "tax_gateway_unavailable":
		return known
	case known != nil:
		wait = known.RetryAfter
	}
	return failure.NewUnavailable("tax_gateway_unavailable",
		"The tax gateway cannot be reached at the moment. It is tried again by itself.", wait, err)
}
