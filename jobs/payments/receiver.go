package paymentsjobs

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// Receiver accepts callbacks from the network: it judges the sender, stores the callback and wakes the inbox. It
// decides nothing about money.
type Receiver struct {
	Workers *Workers
	Inbox   *Inbox
	// Allowed are the provider's addresses. Empty means that any address may call, and that no address proves a sender.
	Allowed []netip.Prefix
	// TrustBare counts callbacks at addresses without a token as verified: for sandbox and test mode only
	// (docs/rules/payments.md#secret-addresses).
	TrustBare bool
	// Kept keeps callbacks while the inbox cannot be written; nil = they are refused then.
	Kept *Kept
}

// accepted acknowledges prompts and confirmations; without it the provider sends the callback again.
type accepted struct {
	ResultCode int
	ResultDesc string
}

// validated answers a validation. The provider sends ThirdPartyTransID back in the confirmation.
type validated struct {
	ResultCode        string
	ResultDesc        string
	ThirdPartyTransID string `json:",omitempty"`
}

// sender holds what is known of the sender of a callback. owner is zero without a token of the right kind.
type sender struct {
	owner    vault.CallbackOwner
	ip       netip.Addr
	verified bool
}

// Receive stores a callback and returns the body of the answer. kind is one of the Callback constants; token is "" at
// the bare address. admit counts the callback of a gateway against the rate limit, which governs the answer, not
// durability (docs/rules/payments.md#stored-first). What the inbox does not take, for whatever reason that is no
// verdict of ours, is kept on the disk, except for a validation, which nobody can answer then. Fails:
// source_not_allowed, malformed_callback, callback_not_kept, and what admit gives.
func (r Receiver) Receive(
	ctx context.Context, kind, token, ip string, body []byte, admit func(gateway string) error,
) (any, error) {
	listed, err := admitted(r.Allowed, ip)
	if err != nil {
		return nil, err
	}
	callback, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("store callback: %w", err)
	}
	c := keptCallback{
		ID: callback, Kind: kind, Token: token, IP: ip, Listed: listed, ReceivedAt: r.Workers.cfg.Clock.Now(),
		Body: body,
	}
	if kind == CallbackValidation || r.Kept == nil {
		return r.receive(ctx, c, admit)
	}
	var why error
	if r.Kept.cfg.Written() {
		// Who hangs up says nothing about the database.
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), storePatience)
		defer cancel()
		var answer any
		why = loop.Try(func() (err error) {
			answer, err = r.receive(limited, c, admit)
			return err
		})
		if why == nil || verdict(why) {
			return answer, why
		}
	}
	if err := r.Kept.keep(ctx, c, why); err != nil {
		return nil, err
	}
	return acknowledged(kind, body)
}

// verdict reports whether an error is our own answer to a callback. Any other says that it could not be judged or
// stored: the database is away, a table is missing or damaged, the try took longer than storePatience, a panic.
func verdict(err error) bool {
	kind := failure.KindOf(err)
	return kind == failure.Denied || kind == failure.Malformed || kind == failure.Limited
}

// receive stores a callback in the inbox and gives the answer.
func (r Receiver) receive(
	ctx context.Context, c keptCallback, admit func(gateway string) error,
) (any, error) {
	s, err := r.identify(ctx, c)
	if err != nil {
		return nil, err
	}
	over := admit(r.gatewayOf(ctx, s, c.Kind, c.Body))
	if over != nil && !s.verified {
		return nil, over
	}
	if err := r.store(ctx, c, s); err != nil {
		return nil, err
	}
	if c.Kind != CallbackValidation {
		r.Inbox.Wake()
	}
	answer, err := acknowledged(c.Kind, c.Body)
	switch {
	case err != nil:
		return nil, err
	case over != nil:
		return nil, over
	case c.Kind == CallbackValidation:
		return r.validate(ctx, s, c.ID, c.Body)
	}
	return answer, nil
}

// store stores a callback of a known sender in the inbox.
func (r Receiver) store(ctx context.Context, c keptCallback, s sender) error {
	kind := c.Kind
	if ofResult(kind) {
		kind = resultKind(kind, s.owner.Kind)
	}
	return r.Workers.cfg.Inbox.StoreAs(ctx, c.ID, vault.Callback{
		Kind: kind, Ref: s.owner.Ref, OrgID: s.owner.OrgID, Shortcode: s.owner.Shortcode, Verified: s.verified,
		SourceIP: s.ip, Body: c.Body, ReceivedAt: c.ReceivedAt,
	})
}

// acknowledged is the answer to a callback that is stored. Fails: malformed_callback.
func acknowledged(kind string, body []byte) (any, error) {
	switch {
	case !json.Valid(body):
		return nil, failure.NewMalformed("malformed_callback", "The body must be one JSON object.")
	case kind == CallbackBillManager:
		return billManagerAnswer{Message: "Success", Code: "200"}, nil
	}
	return accepted{ResultDesc: "Accepted"}, nil
}

// gatewayOf gives the gateway against whose limit a callback counts: the shortcode of its token, else that of the body
// or of the prompt that the body names, together with the organization that has it. So nobody uses up the limit of
// another organization: neither in the other environment, nor on the shared paybill with prompts, nor without a proof.
// It is "" for everything that is not served here, so that invented shortcodes share one limit. A failed lookup does
// not keep the callback from being stored.
func (r Receiver) gatewayOf(ctx context.Context, s sender, kind string, body []byte) string {
	org, shortcode := r.countedFor(ctx, s, kind, body)
	if shortcode == "" {
		return ""
	}
	if !org.IsZero() {
		shortcode = org.String() + " " + shortcode
	}
	if !s.verified {
		return "unverified " + shortcode
	}
	return shortcode
}

// countedFor gives the organization and the shortcode that a callback counts for; the organization is zero for the
// platform's paybill, the shortcode "" for what is not served here.
func (r Receiver) countedFor(ctx context.Context, s sender, kind string, body []byte) (id.Organization, string) {
	if s.owner.Shortcode != "" {
		return s.owner.OrgID, s.owner.Shortcode
	}
	if kind == CallbackPrompt {
		c, err := mobilemoney.ParseSTKCallback(body)
		if err != nil {
			return id.Organization{}, ""
		}
		p, err := r.Workers.payments.ByCheckout(ctx, c.CheckoutRequestID)
		if err != nil || p == nil {
			return id.Organization{}, ""
		}
		return p.OrgID, p.Shortcode
	}
	parse := mobilemoney.ParseC2B
	if kind == CallbackBillManager {
		parse = parseBillManager
	}
	c, err := parse(body)
	if err != nil {
		return id.Organization{}, ""
	}
	owner, err := r.Workers.bareTill(ctx, c.ShortCode)
	if err != nil || !owner.ours || owner.left {
		return id.Organization{}, ""
	}
	return owner.org, c.ShortCode
}

// addressOf gives the address of a sender; the zero address, which is on no list, when it is not known.
func addressOf(ip string) netip.Addr {
	address, _ := netip.ParseAddr(ip)
	return address.Unmap()
}

// onList reports whether a sender is on a list, which proves it.
func onList(list []netip.Prefix, ip string) bool {
	address := addressOf(ip)
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(address) })
}

// admitted lets a callback in that comes, and reports whether the list proves its sender: an empty one lets everybody
// in and proves nobody. Nothing asks it again for what was let in. Fails: source_not_allowed.
func admitted(list []netip.Prefix, ip string) (listed bool, err error) {
	listed = onList(list, ip)
	if len(list) > 0 && !listed {
		return false, failure.NewDenied("source_not_allowed", "Callbacks are not accepted from this address.")
	}
	return listed, nil
}

// identify finds the proof of the sender: a token of the right kind, the list, or TrustBare. An unknown token is no
// failure; the callback is unverified.
func (r Receiver) identify(ctx context.Context, c keptCallback) (sender, error) {
	s := sender{ip: addressOf(c.IP), verified: c.Listed || c.Token == "" && r.TrustBare}
	if c.Token == "" {
		return s, nil
	}
	owner, err := r.Workers.cfg.Addresses.Tokens.Lookup(ctx, secrets.Text(c.Token))
	switch {
	case failure.KindOf(err) == failure.NotFound:
		return s, nil
	case err != nil:
		return s, err
	case proves(c.Kind, owner.Kind):
		s.owner, s.verified = owner, true
	}
	return s, nil
}

// tokenOf gives the kind of token that proves a kind of callback.
func tokenOf(kind string) string {
	if kind == CallbackPrompt {
		return TokenPrompt
	}
	return TokenPaybill
}

// Result codes of a validation. Source: docs/facts/mobile-money.md#c2b-validation.
const (
	validationAccepted     = "0"
	validationBadAccount   = "C2B00012"
	validationBadAmount    = "C2B00013"
	validationBadShortcode = "C2B00015"
	validationOther        = "C2B00016"
)

// validate answers whether the provider should take a payment. An unknown account is refused only when the organization
// wants that (docs/rules/payments.md#validation).
func (r Receiver) validate(ctx context.Context, s sender, callback uuid.UUID, body []byte) (any, error) {
	c, err := mobilemoney.ParseC2B(body)
	if err != nil {
		return rejected(faultOf(body)), nil
	}
	owner, err := r.till(ctx, s, c.ShortCode)
	switch {
	case err != nil:
		return nil, err
	case !owner.ours || owner.left:
		return rejected(validationBadShortcode), nil
	case s.verified && !owner.org.IsZero():
		if unknown, err := r.unknownAccount(ctx, owner.org, c); err != nil || unknown {
			return rejected(validationBadAccount), err
		}
	}
	return validated{ResultCode: validationAccepted, ResultDesc: "Accepted", ThirdPartyTransID: callback.String()}, nil
}

// rejected refuses a payment; the code shows the payer's provider why.
func rejected(code string) validated { return validated{ResultCode: code, ResultDesc: "Rejected"} }

// faultOf gives the result code for a payment that cannot be parsed: a bad amount, or anything else.
func faultOf(body []byte) string {
	var raw struct{ TransAmount json.RawMessage }
	if json.Unmarshal(body, &raw) != nil {
		return validationOther
	}
	amount, err := money.Parse(strings.Trim(string(raw.TransAmount), `"`), money.KES)
	if err != nil || !amount.Positive() {
		return validationBadAmount
	}
	return validationOther
}

// till finds whose a shortcode is in a callback: by the token of its address, or by the shortcode at a bare one.
func (r Receiver) till(ctx context.Context, s sender, shortcode string) (till, error) {
	if s.owner.Shortcode != "" {
		return till{org: s.owner.OrgID, ours: s.owner.Shortcode == shortcode}, nil
	}
	return r.Workers.bareTill(ctx, shortcode)
}

// unknownAccount reports whether the organization refuses unknown accounts and this payment names one. What several of
// its customers have is not unknown.
func (r Receiver) unknownAccount(ctx context.Context, org id.Organization, c mobilemoney.C2B) (bool, error) {
	g, err := r.Workers.gateways.Get(ctx, org)
	if err != nil || g == nil || !g.RejectUnknownAccounts {
		return false, err
	}
	attempts, err := r.Workers.payments.ByReference(ctx, c.BillRef)
	if err != nil || slices.ContainsFunc(attempts, func(p paymentsviews.PaymentRow) bool { return p.OrgID == org }) {
		return false, err
	}
	found, err := r.Workers.matching.Find(ctx, paymentsviews.Reference{
		OrgID: org, BillRef: c.BillRef, InvoiceNumber: c.InvoiceNumber, Phone: c.MSISDN, Currency: c.Amount.Currency,
	})
	return found.Payer == nil && !found.Ambiguous, err
}
