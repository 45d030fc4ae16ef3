// Package taxgateway is the client of a tax authority's electronic gateway: it hands invoices and credit notes over and
// reads the outcome. The gateway knows a document by our id, so that the same document is signed once, however
// often it is handed over. Nothing here decides what to do about an outcome. Source:
// docs/rules/billing-tax.md#tax-gateway, docs/facts/tax-gateway.md#protocol, docs/rules/engine.md#breaker.
package taxgateway

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/egress"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// BreakerKind is the breaker's kind of all calls; an open breaker of this kind fails with code tax_gateway_unavailable.
const BreakerKind = "tax_gateway"

// Guard is the circuit breaker of every call; package gateways/breaker implements it.
type Guard interface {
	// Do runs call, or fails with failure.Unavailable without running it. An error of call counts as a failure of the
	// target.
	Do(ctx context.Context, kind, target string, call func(ctx context.Context) error) error
}

// Config is read by New once.
type Config struct {
	Guard Guard // required
	// Addresses decides where a gateway may be. Its Inside lists the networks without public addresses, such as that of
	// a signing device in the operator's own rack: http is allowed there, to a number.
	Addresses egress.Guard
	Clock     clock.Clock   // the machine's when nil
	Logger    *slog.Logger  // silent when nil
	Timeout   time.Duration // of one exchange; 20 s when 0
}

// Client makes single exchanges with gateways. Safe for concurrent use.
type Client struct {
	guard     Guard
	addresses egress.Guard
	clock     clock.Clock
	log       *slog.Logger
	timeout   time.Duration
	http      *http.Client
}

// New makes a client; nothing is called yet.
func New(cfg Config) *Client {
	c := &Client{
		guard: cfg.Guard, addresses: cfg.Addresses, clock: cfg.Clock, log: cfg.Logger,
		timeout: cmp.Or(cfg.Timeout, 20*time.Second),
	}
	if c.clock == nil {
		c.clock = clock.System()
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.http = c.newHTTPClient()
	return c
}

// newHTTPClient follows no redirect, which would carry the secret and a customer's document to an address that nobody
// configured, and connects to no address that a gateway may not have, whatever a name says at the moment of the call.
func (c *Client) newHTTPClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext: c.addresses.Dial, TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 60 * time.Second,
			MaxIdleConnsPerHost: 8, MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Check fails when a gateway may not have an address: it is an https URL, or http to a number of Config.Inside. A name
// is looked at again when it is called.
func (c *Client) Check(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
		return errors.New("must be a plain https address")
	}
	at, notNumber := netip.ParseAddr(u.Hostname())
	err = c.addresses.CheckURL(u)
	switch {
	case errors.Is(err, egress.ErrRefused):
		return errors.New("must be a public address, or one of the operator's networks for tax gateways")
	case err != nil:
		return err //nolint:wrapcheck // the text goes behind the name of a field
	case u.Scheme == "https", u.Scheme == "http" && notNumber == nil && c.addresses.IsInside(at):
		return nil
	}
	return errors.New("must be a plain https address")
}

// Close drops idle connections; calls under way are not interrupted.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Device signs the documents of an organization. Its methods hide the secret from logs and from fmt.
type Device struct {
	Address string // of its gateway
	Serial  string // of the device that the tax authority has registered
	Branch  string // of the business: 00 is the head office
	Secret  string
}

// LogValue shows the serial number only.
func (d Device) LogValue() slog.Value { return slog.GroupValue(slog.String("serial", d.Serial)) }

// String shows the serial number only.
func (d Device) String() string { return "tax device " + d.Serial }

// GoString hides the secret from %#v, too.
func (d Device) GoString() string { return d.String() }

// Kinds of documents. A cancellation takes back an invoice that was voided after it was handed over.
const (
	KindInvoice      = "invoice"
	KindCreditNote   = "credit_note"
	KindCancellation = "cancellation"
)

// Party is a seller or a buyer. PIN is the tax number; that of a buyer is "" for one without.
type Party struct{ PIN, Name string }

// Document is an invoice or a credit note. All amounts are positive and in one currency.
type Document struct {
	ID     string // ours, for ever
	Kind   string
	Number string
	// Original is the control number of the signed invoice that a credit note or a cancellation is about; "" for an
	// invoice, and for a note over an invoice that was never handed over.
	Original      string
	Seller, Buyer Party
	IssuedAt      time.Time
	Lines         []Line
	Net           money.Amount
	Taxes         []Tax
	Total         money.Amount // tax included
}

// Line is one charge.
type Line struct {
	Description, Quantity string
	Net, Total            money.Amount
}

// Tax is one kind of tax in a document. BasisPoints are hundredths of a percent.
type Tax struct {
	Name        string
	BasisPoints int64
	Amount      money.Amount
}

// Outcome tells how a gateway decided about a document: exactly one field is set.
type Outcome struct {
	Signature *Signature
	Refusal   *Refusal
}

// Signature proves that the tax authority has a document.
type Signature struct {
	ControlNumber string
	Verification  string // what the square code holds: an address at which everybody can look
	At            time.Time
}

// Refusal is a gateway's no, in its own words. The same document may be handed over again when its cause is mended.
type Refusal struct{ Code, Message string }

// host names a gateway in the log; its path may be a secret.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}
