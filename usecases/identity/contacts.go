package identitycases

import (
	"cmp"
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases"
)

// changesAnHour bounds the wishes of one user for another address.
const changesAnHour = 5

// NewContact is the wish of a signed-in user for another address: exactly one of them.
type NewContact struct {
	UserID id.User
	Email  *personal.Text
	Phone  *personal.Text
}

// address gives the form of the address that is wished for, and its channel. Fails: invalid_input.
func (in NewContact) address() (address, channel string, err error) {
	var f failure.Faults
	f.Check((in.Email == nil) != (in.Phone == nil), "email", "or phone must be given, and not both")
	if err := f.Err(); err != nil {
		return "", "", err
	}
	if in.Email != nil {
		email := commands.NormalizeEmail(in.Email.Reveal())
		return email, string(events.ChannelEmail), commands.ChangeLoginEmail{Email: personal.Of(email)}.Validate()
	}
	phone := commands.NormalizeContactPhone(in.Phone.Reveal())
	return phone, string(events.ChannelSMS), commands.ChangeLoginPhone{Phone: personal.Of(phone)}.Validate()
}

// field names the address that is wished for.
func (in NewContact) field() string {
	if in.Email != nil {
		return "email"
	}
	return "phone"
}

// replaces reports whether a wish takes the place of the one address with which a customer signs in: two addresses are
// two sign-ins, so that what is given to one is never shown to the other.
func (in NewContact) replaces(state identity.User) bool {
	return (in.Email != nil) == (state.Email.Reveal() != "")
}

// before is the address of a user that takes the first code, with its channel. For another e-mail address it is the
// present one. For another phone it is the present phone, where that says who the person is: the phone of a person
// whose e-mail address is proven was perhaps typed by somebody else, and then the code goes to the e-mail address.
func before(state identity.User, channel string) (address, by string) {
	phone := state.Phone.Reveal()
	if channel == string(events.ChannelSMS) && phone != "" && (state.Person.IsZero() || state.PhoneProven) &&
		!state.SuperAdmin {
		return phone, channel
	}
	return state.Email.Reveal(), string(events.ChannelEmail)
}

// AskChange has a code sent to an address that the user has, and another one to the address that is wished for. Whoever
// else has that address, the answer and the work are the same; beyond the limits nothing is sent without a word
// (docs/rules/identity.md#own-addresses). Fails: invalid_input.
func (s Codes) AskChange(ctx context.Context, asked usecases.Asked, in NewContact) error {
	next, channel, err := in.address()
	if err != nil {
		return err
	}
	state, err := s.SignIns.state(ctx, in.UserID)
	if err != nil {
		return err
	}
	var f failure.Faults
	f.Check(next != state.Email.Reveal(), "email", "is your address already")
	open := state.PhoneProven != !state.Person.IsZero() // a phone that somebody else has typed can be chosen
	f.Check(next != state.Phone.Reveal() || open, "phone", "is your address already")
	f.Check(!state.CodesOnly || in.replaces(state), in.field(), "cannot be added: this sign-in has one address")
	if err := f.Err(); err != nil {
		return err
	}
	ok, _, err := s.Limits.Allow(ctx, "address change: "+in.UserID.String(), changesAnHour, time.Hour)
	if err != nil || !ok {
		return err
	}
	old, by := before(state, channel)
	change, err := s.Vault.WishAddress(ctx, in.UserID, vault.AddressChange{
		Before: old, By: by, Next: next, Channel: channel,
	})
	if err != nil {
		return err
	}
	for _, wish := range []vault.CodeWish{
		{Channel: by, Address: old, Purpose: vault.CodeToAddressBefore},
		{Channel: channel, Address: next, Purpose: vault.CodeToAddressNext},
	} {
		wish.OrgID, wish.Change = asked.Org(), change
		if err := s.wish(ctx, wish); err != nil {
			return err
		}
	}
	return nil
}

// wish puts a code into the queue, unless its address has got too many.
func (s Codes) wish(ctx context.Context, w vault.CodeWish) error {
	ok, _, err := s.Limits.Allow(ctx, "code sent: "+w.Address, codesAnHour, time.Hour)
	if err != nil || !ok {
		return err
	}
	request, err := s.Vault.Ask(ctx, w)
	if err != nil {
		return err
	}
	return s.Enqueue(ctx, w.OrgID, request)
}

// ContactProof has the two codes as their owner typed them.
type ContactProof struct {
	UserID  id.User
	Session id.Session // stays open
	Old     secrets.Text
	New     secrets.Text
}

// ConfirmChange changes the address for which both codes are right, in all records of a proven person. All other
// sessions end, before the change as well, so that a stop in between leaves none to somebody who reads the old address.
// The address of before is told. Only who has shown that the new address is theirs learns that somebody else signs in
// with it. It gives the position of the change. Fails: invalid_input, wrong_codes, email_taken, phone_taken.
func (s Codes) ConfirmChange(ctx context.Context, asked usecases.Asked, in ContactProof) (uint64, error) {
	wished, err := s.proven(ctx, in)
	if err != nil {
		return 0, err
	}
	records, err := s.records(ctx, in.UserID)
	if err != nil {
		return 0, err
	}
	if err := s.free(ctx, records, wished); err != nil {
		return 0, err
	}
	others := vault.Revocation{Except: in.Session, Reason: "address_changed"}
	for _, record := range records {
		others.Users = append(others.Users, record.ID)
	}
	if err := s.SignIns.Sessions.endAll(ctx, asked, others); err != nil {
		return 0, err
	}
	last, err := s.change(ctx, asked, records, wished)
	if err != nil {
		return 0, err
	}
	if err := s.SignIns.Sessions.endAll(ctx, asked, others); err != nil {
		return 0, err
	}
	return last, s.wish(ctx, vault.CodeWish{
		OrgID: asked.Org(), Channel: wished.By, Address: wished.Before, Purpose: vault.NoteOfAddressChange,
		Change: wished.ID,
	})
}

// proven gives the change for which both codes are right, and uses them up. Fails: invalid_input, wrong_codes.
func (s Codes) proven(ctx context.Context, in ContactProof) (wished vault.AddressChange, err error) {
	var f failure.Faults
	f.Check(codeForm.MatchString(in.Old.Reveal()), "oldCode", "must have 6 digits")
	f.Check(codeForm.MatchString(in.New.Reveal()), "newCode", "must have 6 digits")
	if err := f.Err(); err != nil {
		return wished, err
	}
	ok, _, err := s.Limits.Allow(ctx, "address change tried: "+in.UserID.String(), triesAnHour, time.Hour)
	if err != nil || !ok {
		return wished, cmp.Or(err, errWrongCodes())
	}
	found, err := s.Vault.WishedAddress(ctx, in.UserID)
	if err != nil || found == nil {
		return wished, cmp.Or(err, errWrongCodes())
	}
	right, err := s.Vault.UseBoth(ctx, in.UserID, found.ID, in.Old, in.New)
	if err != nil || !right {
		return wished, cmp.Or(err, errWrongCodes())
	}
	return *found, nil
}

// records lists the records of whom a user is, as the log has them: that which stands for the person first.
func (s Codes) records(ctx context.Context, user id.User) ([]identity.User, error) {
	state, err := s.SignIns.state(ctx, user)
	if err != nil || state.Person.IsZero() {
		return []identity.User{state}, err
	}
	if err := s.SignIns.catchUp(ctx); err != nil {
		return nil, err
	}
	rows, err := s.SignIns.Users.OfPerson(ctx, state.Person)
	if err != nil {
		return nil, err
	}
	first, err := s.SignIns.state(ctx, state.Person)
	records := []identity.User{first}
	for _, row := range rows {
		record, loadErr := s.SignIns.state(ctx, row.ID)
		if err = cmp.Or(err, loadErr); record.Person == state.Person && record.ID != state.Person {
			records = append(records, record)
		}
	}
	return records, err
}

// free looks whether an e-mail address is somebody else's, before any session ends; the claims decide. Fails:
// email_taken.
func (s Codes) free(ctx context.Context, records []identity.User, wished vault.AddressChange) error {
	if wished.Channel != string(events.ChannelEmail) {
		return nil
	}
	if err := s.SignIns.catchUp(ctx); err != nil {
		return err
	}
	rows, err := s.SignIns.Users.OfAddress(ctx, wished.Next)
	if err != nil {
		return err
	}
	for _, record := range records {
		for _, row := range rows {
			whole := (row.SuperAdmin || row.Person == row.ID) && (record.SuperAdmin || record.Person == record.ID)
			if row.ID != record.ID && (whole || row.Home == record.Home) {
				return errEmailTaken()
			}
		}
	}
	return nil
}

// change records the address in each record, at its organization.
func (s Codes) change(
	ctx context.Context, asked usecases.Asked, records []identity.User, wished vault.AddressChange,
) (last uint64, err error) {
	for _, record := range records {
		var c commands.Command = commands.ChangeLoginEmail{UserID: record.ID, Email: personal.Of(wished.Next)}
		if wished.Channel == string(events.ChannelSMS) {
			c = commands.ChangeLoginPhone{UserID: record.ID, Phone: personal.Of(wished.Next)}
		}
		done, err := s.SignIns.Sessions.Bus.Execute(ctx, c, own(asked, record, "address "+record.ID.String()))
		if failure.CodeOf(err) == "already_member" {
			return 0, taken(wished)
		}
		if err != nil {
			return 0, err
		}
		last = max(last, done.Position)
	}
	return last, s.SignIns.Sessions.DirectoryShows.WaitFor(ctx, last)
}

// errWrongCodes is the failure of two codes of which at least one is wrong or too old: which one is not told.
func errWrongCodes() error {
	return failure.NewInvalid("wrong_codes", "oldCode or newCode is wrong or not valid any more")
}

// taken is the failure of an address that somebody else of the same organization signs in with.
func taken(wished vault.AddressChange) error {
	if wished.Channel == string(events.ChannelSMS) {
		return failure.NewConflict("phone_taken", "This phone is in use.")
	}
	return errEmailTaken()
}

// errEmailTaken is the failure of an address that somebody else signs in with.
func errEmailTaken() error {
	return failure.NewConflict("email_taken", "This e-mail address is in use.")
}
