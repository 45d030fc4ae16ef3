package messagegateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
)

// SMS is one text to a phone.
type SMS struct {
	ID       string // ours; given to providers that take one
	To       string // E.164, such as +254711000111
	Text     string
	Approved Approved // instead of Text, for WhatsApp
}

// Texter hands texts to one SMS provider, or to WhatsApp. Safe for concurrent use.
type Texter struct {
	cfg  Config
	kind string // of the breaker
	form provider
	host string
	http *http.Client
}

// provider knows the words of one kind of provider.
type provider interface {
	// request makes the request of a message.
	request(ctx context.Context, of SMS) (*http.Request, error)
	// read takes a whole answer apart. Fails: *Refused, ErrUnclear, and any error for a message that was not taken.
	read(status int, body []byte) (Taken, error)
	// reports reads what the provider posts about messages later.
	reports(body []byte) ([]Report, error)
}

// NewTexter makes a texter for an address such as https://user:key@host/version1/messaging?from=SENDER, where a
// provider speaks as Africa's Talking does. Nothing is called yet.
func NewTexter(address string, cfg Config) (*Texter, error) {
	u, err := smsAddress(address)
	if err != nil {
		return nil, err
	}
	key, _ := u.User.Password()
	if u.User.Username() == "" || key == "" {
		return nil, errors.New("must have a user and a key: https://user:key@host/path")
	}
	form := formProvider{user: u.User.Username(), key: key, from: u.Query().Get("from")}
	u.User, u.RawQuery = nil, ""
	form.address = u.String()
	return newTexter(KindSMS, form, u.Hostname(), cfg), nil
}

// smsAddress parses an address. Its errors never have the address, which holds a key.
func smsAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("must be an https address")
	}
	return u, nil
}

// newTexter follows no redirect, which would carry the key to an address that nobody configured.
func newTexter(kind string, form provider, host string, cfg Config) *Texter {
	return &Texter{cfg: cfg.withDefaults(), kind: kind, form: form, host: host, http: &http.Client{
		Transport: &http.Transport{
			MaxIdleConnsPerHost: 32, MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close drops idle connections; calls under way are not interrupted.
func (t *Texter) Close() { t.http.CloseIdleConnections() }

// maxAnswer bounds an answer, in bytes. Real ones are under 1 KiB.
const maxAnswer = 64 << 10

// Send hands a text over. Fails: *Refused, ErrUnclear, sms_unavailable or whatsapp_unavailable; after the last ones it
// was not taken.
func (t *Texter) Send(ctx context.Context, of SMS) (Taken, error) {
	var taken Taken
	began := t.cfg.Clock.Now()
	err := t.cfg.Guard.Do(ctx, t.kind, t.host, func(ctx context.Context) (err error) {
		ctx, cancel := context.WithTimeout(ctx, t.cfg.Timeout)
		defer cancel()
		taken, err = t.exchange(ctx, of)
		return err
	})
	outcome, err := ended(t.kind, err)
	t.cfg.Logger.InfoContext(ctx, t.kind+" provider call", "system", t.kind, "operation", "send", "target", t.host,
		"duration", t.cfg.Clock.Now().Sub(began), "outcome", outcome)
	return taken, err
}

// exchange makes one request. Once it was written, an answer that is lost leaves the message unclear.
func (t *Texter) exchange(ctx context.Context, of SMS) (Taken, error) {
	written := false
	r, err := t.form.request(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders: func() { written = true },
	}), of)
	if err != nil {
		return Taken{}, fmt.Errorf("write the request: %w", err)
	}
	w, err := t.http.Do(r)
	switch {
	case err != nil && written:
		return Taken{}, fmt.Errorf("%w: %w", ErrUnclear, bare(err))
	case err != nil:
		return Taken{}, fmt.Errorf("reach the provider: %w", bare(err))
	}
	defer w.Body.Close()
	body, err := io.ReadAll(io.LimitReader(w.Body, maxAnswer+1))
	switch {
	case err != nil:
		return Taken{}, fmt.Errorf("%w: %w", ErrUnclear, err)
	case len(body) > maxAnswer:
		return Taken{}, fmt.Errorf("%w: its answer is too large", ErrUnclear)
	}
	taken, err := t.form.read(w.StatusCode, body)
	var no *Refused
	if errors.As(err, &no) {
		err = breaker.Answered(err)
	}
	return taken, err
}

// bare takes the address out of an error of net/http: that of some providers holds the phone, the text or the key.
func bare(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// byStatus judges an answer by its status alone: nil for one whose body decides. After 500, 502 and 504 the provider
// may have begun with the message: what stands before it has passed that on.
func byStatus(status int) error {
	switch {
	case status == http.StatusInternalServerError, status == http.StatusBadGateway,
		status == http.StatusGatewayTimeout:
		return fmt.Errorf("%w: status %d", ErrUnclear, status)
	case status == http.StatusBadRequest, status == http.StatusUnprocessableEntity:
		return refused(CodeRejected, fmt.Sprintf("status %d", status))
	case status < 200 || status > 299:
		return fmt.Errorf("the provider answers with status %d", status)
	}
	return nil
}

// unreadable is the error of an answer that should be JSON and cannot be read. One that breaks off is unclear: what it
// would have said may be that the message was taken. A page, or nothing, is of somebody else.
func unreadable(body []byte, who string) error {
	var any json.RawMessage
	var syntax *json.SyntaxError
	begins := bytes.IndexAny(bytes.TrimSpace(body), "{[") == 0
	if err := json.Unmarshal(body, &any); begins && errors.As(err, &syntax) && syntax.Offset >= int64(len(body)) {
		return fmt.Errorf("%w: its answer breaks off", ErrUnclear)
	}
	return errors.New("the answer is not that of " + who)
}

// formProvider speaks as Africa's Talking does. Source: docs/facts/messaging.md#africas-talking.
type formProvider struct{ address, user, key, from string }

// String hides the key.
func (p formProvider) String() string { return p.address }

// GoString hides the key from %#v, too.
func (p formProvider) GoString() string { return p.address }

// request makes a form, with the key in a header.
func (p formProvider) request(ctx context.Context, of SMS) (*http.Request, error) {
	form := url.Values{"username": {p.user}, "to": {of.To}, "message": {of.Text}}
	if p.from != "" {
		form.Set("from", p.from)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("apiKey", p.key)
	return r, nil
}

// formAnswer is the answer on the wire.
type formAnswer struct {
	SMSMessageData *struct {
		Message    string
		Recipients []formRecipient
	}
}

// formRecipient tells what became of the message to one phone.
type formRecipient struct {
	StatusCode int    `json:"statusCode"`
	Status     string `json:"status"`
	Cost       string `json:"cost"`
	MessageID  string `json:"messageId"`
}

// read looks at the only recipient: the status of the answer is 2xx also when nothing was taken.
func (formProvider) read(status int, body []byte) (Taken, error) {
	if err := byStatus(status); err != nil {
		return Taken{}, err
	}
	var a formAnswer
	if err := json.Unmarshal(body, &a); err != nil || a.SMSMessageData == nil {
		return Taken{}, unreadable(body, "an SMS provider")
	}
	if len(a.SMSMessageData.Recipients) == 0 {
		return Taken{}, fmt.Errorf("the provider took no message: %s",
			refused(CodeRejected, a.SMSMessageData.Message).Text)
	}
	of := a.SMSMessageData.Recipients[0]
	switch of.StatusCode {
	case 100, 101, 102: // processed, sent, queued
		return Taken{Reference: of.MessageID, Cost: of.Cost}, nil
	case 403, 404, 407: // invalid, unsupported, cannot be routed
		return Taken{}, refused(CodeAddress, of.Status)
	case 406, 409: // on the block list, does not want to be disturbed
		return Taken{}, refused(CodeBlocked, of.Status)
	case 405, 500, 501: // no balance, internal error, error of the network: all messages have it
		return Taken{}, fmt.Errorf("the provider took no message: %s", refused(CodeRejected, of.Status).Text)
	}
	return Taken{}, refused(CodeRejected, of.Status)
}
