package identitycases

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Codes signs people in by a code that is sent to their address, and sends the codes
// (docs/rules/identity.md#codes). All fields are required. Safe for concurrent use.
type Codes struct {
	SignIns SignIns
	Persons Persons
	Vault   *vault.Codes
	Limits  vault.Limiter
	// Enqueue has a job send the code of a wish, in the turn of the organization at whose host it was asked for; zero =
	// the root host. Whether anybody signs in with the address plays no part in it.
	Enqueue func(ctx context.Context, org id.Organization, request id.Any) error
	// Offers remembers, across a stop, which codes are being handed over.
	Offers *vault.Offers
	// Send hands a code to the gateway of its channel. ErrCodeLost means that it may have been taken; after any other
	// error it certainly was not.
	Send func(ctx context.Context, m CodeMessage) error
	// Host is the name of an organization's host, or of the root host for "", as browsers show it.
	Host func(slug string) string
	// Write gives the texts of a message in the words of the organization.
	Write func(ctx context.Context, w usecases.SignInText) (subject, text string, err error)
}

// CodeMessage is a code on its way to its owner.
type CodeMessage struct {
	ID            id.Message
	Org           id.Organization // zero = the root host
	Sender        string          // name of the organization, or of the platform
	Channel, To   string
	Template      events.MessageTemplate
	Subject, Text string
	At            time.Time
}

// ErrCodeLost is the failure of a code that was handed over and whose answer was lost, or that its gateway refuses. It
// is not sent again: its owner asks for another one.
var ErrCodeLost = errors.New("the code may have been taken, or never will be")

// Limits of codes for one address, on the whole platform (docs/rules/identity.md#codes).
const (
	codesAnHour = 5
	triesAnHour = 10
)

// Ask has a code sent to an address, if somebody signs in with it at the host. It does the same work and gives the same
// answer whether there is anybody, and beyond the limit nothing is sent without a word. Fails: invalid_input.
func (s Codes) Ask(ctx context.Context, org id.Organization, identifier personal.Text) error {
	address, channel, err := commands.ReadIdentifier(identifier.Reveal())
	if err != nil {
		return err
	}
	return s.wish(ctx, vault.CodeWish{OrgID: org, Channel: channel, Address: address})
}

// noteKept is how long a note about a change is tried; nobody waits for it.
const noteKept = time.Hour

// Deliver makes the code of a wish and sends it, when somebody signs in with the address, or wishes to. An error is
// tried again until nobody waits for the code any more.
func (s Codes) Deliver(ctx context.Context, request id.Any) error {
	wish, err := s.Vault.Open(ctx, request)
	if err != nil || wish == nil {
		return err
	}
	now, note := s.SignIns.Clock.Now(), wish.Purpose == vault.NoteOfAddressChange
	if now.After(wish.AskedAt.Add(vault.CodeTTL)) && !note || now.After(wish.AskedAt.Add(noteKept)) {
		return nil
	}
	entries, err := s.entries(ctx, wish.OrgID, wish.Address)
	if err != nil {
		return err
	}
	if len(entries) == 0 && wish.Purpose == vault.CodeToSignIn {
		return s.Vault.Drop(ctx, request)
	}
	sender, slug := platformName, ""
	if !wish.OrgID.IsZero() {
		org, _, err := bus.LoadOwned[identity.Organization](ctx, s.SignIns.Sessions.Bus, wish.OrgID, wish.OrgID)
		if err != nil {
			return err
		}
		sender, slug = org.Name, org.Slug
	}
	m := CodeMessage{
		ID: id.As[id.Message](request), Org: wish.OrgID, Sender: sender, Channel: wish.Channel, To: wish.Address,
		Template: templateOf(wish.Purpose), At: now,
	}
	// Asked before there is another code: what an earlier try may have sent stays good.
	offer, err := s.Offers.Begin(ctx, m.ID)
	if err != nil {
		return err
	}
	if !offer.Before {
		err := s.hand(ctx, request, m, usecases.SignInText{
			Org: wish.OrgID, Customer: customerOf(entries), Template: m.Template,
			Channel: events.MessageChannel(m.Channel), Words: map[string]string{"org": sender, "host": s.Host(slug)},
		})
		if err != nil && !errors.Is(err, ErrCodeLost) {
			return errors.Join(err, s.Offers.End(context.WithoutCancel(ctx), m.ID))
		}
	}
	if note {
		return s.Vault.Drop(ctx, request)
	}
	return nil
}

// hand makes the code of a message, unless it is a note, writes the message and hands it over. Fails: ErrCodeLost;
// after any other error it was certainly not taken.
func (s Codes) hand(ctx context.Context, request id.Any, m CodeMessage, w usecases.SignInText) (err error) {
	var code secrets.Text
	if m.Template.HasCode() {
		if code, err = s.Vault.Make(ctx, request); err != nil || code.IsZero() {
			return err
		}
	}
	w.Words["otp"] = code.Reveal()
	if m.Subject, m.Text, err = s.Write(ctx, w); err != nil {
		return err
	}
	if m.Template.HasCode() && m.Channel == string(events.ChannelSMS) {
		m.Text += fillsIn(w.Words["host"], code)
	}
	return s.Send(ctx, m)
}

// templateOf names the message of a wish.
func templateOf(p vault.CodePurpose) events.MessageTemplate {
	switch p {
	case vault.CodeToAddressBefore, vault.CodeToAddressNext:
		return events.CodeOfAddress
	case vault.NoteOfAddressChange:
		return events.AddressChanged
	case vault.CodeToSignIn:
	}
	return events.CodeToSignIn
}

// customerOf is a customer who signs in with one of the entries; zero for staff.
func customerOf(entries []Entry) (customer id.Subscriber) {
	for _, e := range entries {
		for at, org := range e.Portal {
			if org == e.OrgID && (customer.IsZero() || at.String() < customer.String()) {
				customer = at
			}
		}
	}
	return customer
}

// fillsIn is the last line of a text for a phone: it lets the browser of the phone fill the code in at that host alone
// (the format of origin-bound one-time codes).
func fillsIn(host string, code secrets.Text) string { return "\n\n@" + host + " #" + code.Reveal() }

// platformName is the sender of codes for the root host.
const platformName = "Lastmile"

// codeForm has the six digits that people type.
var codeForm = regexp.MustCompile(`^[0-9]{6}$`)

// CodeProof is a code as its owner typed it.
type CodeProof struct {
	Identifier personal.Text // in any spelling
	Code       secrets.Text
	Browser    string // in which it was typed, in words; "" = not known
}

// Entry is a place that the owner of an address may enter.
type Entry struct {
	User  identityviews.UserRow
	OrgID id.Organization // zero = the platform
	Role  events.Role
	// Portal has the customers whose things are seen there, with the organization of each; empty for staff.
	Portal map[id.Subscriber]id.Organization
}

// Chosen is a session, or the choice that comes before it.
type Chosen struct {
	SignedIn
	Token   secrets.Text // stands for the proven address; "" = there is a session
	Entries []Entry      // of which one is to be chosen
}

// Verify uses a code up. At an organization's host it opens a session there. At the root host it opens one for an
// administrator of the platform, and lets everybody else choose an organization. Fails: access_unknown, invalid_input,
// wrong_code.
func (s Codes) Verify(ctx context.Context, asked usecases.Asked, in CodeProof) (Chosen, error) {
	if err := s.SignIns.Access.Check(); err != nil {
		return Chosen{}, err
	}
	address, err := s.use(ctx, asked.Org(), in)
	if err != nil {
		return Chosen{}, err
	}
	entries, err := s.entries(ctx, asked.Org(), address)
	if err != nil {
		return Chosen{}, err
	}
	switch {
	case len(entries) == 0:
		return Chosen{}, errWrongCode()
	case entries[0].OrgID == asked.Org():
		signed, err := s.enter(ctx, asked, entries[0], in.Browser)
		return Chosen{SignedIn: signed}, err
	}
	token, err := s.Vault.Verified(ctx, address)
	return Chosen{Token: token, Entries: entries}, err
}

// use tries a code, and gives the address that it has proven. Fails: invalid_input, wrong_code.
func (s Codes) use(ctx context.Context, org id.Organization, in CodeProof) (address string, err error) {
	address, _, err = commands.ReadIdentifier(in.Identifier.Reveal())
	in.Code = secrets.Text(inputtext.Code(in.Code.Reveal()))
	var f failure.Faults
	f.Check(codeForm.MatchString(in.Code.Reveal()), "code", "must have 6 digits")
	if err = cmp.Or(err, f.Err()); err != nil {
		return "", err
	}
	ok, _, err := s.Limits.Allow(ctx, "code tried: "+address, triesAnHour, time.Hour)
	if err != nil {
		return "", err
	}
	right, err := s.Vault.Use(ctx, org, address, in.Code)
	if err == nil && (!ok || !right) {
		err = errWrongCode()
	}
	return address, err
}

// Complete opens a session at the host of the organization that was chosen. The token is used up by every try. Fails:
// access_unknown, verified_token_invalid.
func (s Codes) Complete(
	ctx context.Context, asked usecases.Asked, token secrets.Text, org id.Organization, browser string,
) (SignedIn, error) {
	if err := s.SignIns.Access.Check(); err != nil {
		return SignedIn{}, err
	}
	address, err := s.Vault.TakeVerified(ctx, token)
	if err != nil {
		return SignedIn{}, err
	}
	if address == "" || org != asked.Org() {
		return SignedIn{}, errTokenSpent()
	}
	entries, err := s.entries(ctx, asked.Org(), address)
	if err != nil {
		return SignedIn{}, err
	}
	if len(entries) == 0 {
		return SignedIn{}, errTokenSpent()
	}
	return s.enter(ctx, asked, entries[0], browser)
}

// Reset proves an e-mail address by a code, and gives its person a new password, as Persons.Prove does. Fails:
// invalid_input, wrong_code, and as Persons.Prove.
func (s Codes) Reset(ctx context.Context, asked usecases.Asked, in CodeProof, password secrets.Text) error {
	var f failure.Faults
	checkPassword(&f, "newPassword", password)
	_, channel, err := commands.ReadIdentifier(in.Identifier.Reveal())
	f.Check(err != nil || channel == string(events.ChannelEmail), "identifier",
		"must be the e-mail address of the sign-in")
	if err := cmp.Or(err, f.Err()); err != nil {
		return err
	}
	address, err := s.use(ctx, asked.Org(), in)
	if err != nil {
		return err
	}
	_, err = s.Persons.Prove(ctx, asked, Proof{Email: personal.Of(address), Password: password})
	if failure.KindOf(err) == failure.NotFound {
		return errWrongCode()
	}
	return err
}

// enter opens a session for an entry, which is looked up again in the log.
func (s Codes) enter(ctx context.Context, asked usecases.Asked, e Entry, browser string) (SignedIn, error) {
	state, err := s.SignIns.state(ctx, e.User.ID)
	if err != nil {
		return SignedIn{}, err
	}
	role, err := s.SignIns.mayEnter(ctx, asked, state)
	if failure.KindOf(err) == failure.Unauthenticated || failure.KindOf(err) == failure.Denied {
		return SignedIn{}, errWrongCode()
	}
	if err != nil {
		return SignedIn{}, err
	}
	return s.SignIns.begin(ctx, asked, opening{
		user: e.User, role: role, method: "otp", browser: browser, factor: state.SecondFactor,
	})
}

// entries lists what the owner of an address may enter from a host: at most one at the host of an organization; at the
// root host the platform alone for its administrator, else all organizations. An e-mail address that was proven to be a
// person's opens whatever the person is a member of; everything else opens the organization that registered it, because
// nobody else has typed it there (docs/rules/identity.md#proven-addresses).
func (s Codes) entries(ctx context.Context, org id.Organization, address string) ([]Entry, error) {
	users, err := s.SignIns.ofAddress(ctx, org, address)
	if err != nil {
		return nil, err
	}
	var list []Entry
	for _, user := range users {
		state, err := s.SignIns.state(ctx, user.ID)
		if err != nil {
			return nil, err
		}
		byPhone := user.Email != address
		switch {
		case state.Forgotten:
		case state.SuperAdmin && !byPhone && org.IsZero():
			return []Entry{{User: user, Role: events.RoleSuperAdmin}}, nil
		case !state.SuperAdmin && state.Apart:
			list = append(list, enterable(user, state, org, byPhone)...)
		}
	}
	if !org.IsZero() && len(list) > 1 {
		list = list[:1]
	}
	return list, nil
}

// enterable lists the memberships with which a user may enter; org narrows them to one organization. The phone of a
// proven person opens something only when the person has chosen it: else somebody else has typed it.
func enterable(user identityviews.UserRow, state identity.User, org id.Organization, byPhone bool) (list []Entry) {
	phone := state.Person.IsZero() || state.PhoneProven
	for at := range state.Memberships {
		m, ok := state.MemberAt(at)
		if !ok || m.Disabled || state.SeesNothing(at) {
			continue
		}
		if (org.IsZero() || at == org) && (!byPhone || at == state.Home && phone) {
			list = append(list, Entry{User: user, OrgID: at, Role: m.Role, Portal: state.Portal})
		}
	}
	return list
}

// errWrongCode is the same failure for a wrong code, one that is too old or was tried too often, and an address of
// nobody.
func errWrongCode() error {
	return failure.NewUnauthenticated("wrong_code",
		"The code is wrong or not valid any more. Ask for a new one.")
}

// errTokenSpent is the failure of a token that stands for no address any more, or is used at another host.
func errTokenSpent() error {
	return failure.NewUnauthenticated("verified_token_invalid",
		"This choice is not valid any more. Ask for a new code.")
}
