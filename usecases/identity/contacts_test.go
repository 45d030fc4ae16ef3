package identitycases_test

import (
	"context"
	"errors"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/usecases/identity"
	"github.com/lastmile-isp/lastmile/usecases/messaging"
)

// sixDigits finds a code in a message.
var sixDigits = regexp.MustCompile(`\b[0-9]{6}\b`)

// posted are the codes of a kit, whose jobs run at once, and the messages that were sent.
type posted struct {
	identitycases.Codes
	k    *kit
	mu   sync.Mutex
	sent map[string][]identitycases.CodeMessage
}

// posts completes the codes of the kit.
func (k *kit) posts() *posted {
	p := &posted{Codes: k.Codes, k: k, sent: map[string][]identitycases.CodeMessage{}}
	p.Host = func(slug string) string { return slug + ".lastmile.test" }
	p.Write = messagingcases.Settings{Bus: k.Bus}.OfSignIn
	p.Send = func(_ context.Context, m identitycases.CodeMessage) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.sent[m.To] = append(p.sent[m.To], m)
		return nil
	}
	p.Enqueue = func(ctx context.Context, _ id.Organization, request id.Any) error { return p.Deliver(ctx, request) }
	return p
}

// code is the newest that was sent to an address; "000000" for none.
func (p *posted) code(to string) secrets.Text {
	p.mu.Lock()
	defer p.mu.Unlock()
	if list := p.sent[to]; len(list) > 0 {
		if found := sixDigits.FindString(list[len(list)-1].Text); found != "" {
			return secrets.Text(found)
		}
	}
	return "000000"
}

// email asks for another e-mail address.
func (p *posted) email(in identitycases.SignedIn, org id.Organization, to string) error {
	address := personal.Of(to)
	return p.AskChange(p.k.t.Context(), public(org), identitycases.NewContact{UserID: in.User.ID, Email: &address})
}

// phone asks for another phone.
func (p *posted) phone(in identitycases.SignedIn, org id.Organization, to string) error {
	number := personal.Of(to)
	return p.AskChange(p.k.t.Context(), public(org), identitycases.NewContact{UserID: in.User.ID, Phone: &number})
}

// confirm shows two codes.
func (p *posted) confirm(in identitycases.SignedIn, org id.Organization, old, next secrets.Text) error {
	_, err := p.ConfirmChange(p.k.t.Context(), public(org), identitycases.ContactProof{
		UserID: in.User.ID, Session: in.Session.ID, Old: old, New: next,
	})
	return err
}

// person makes Olga's records at both organizations one person, who signs in at both.
func (k *kit) person() (mine id.User, here, there identitycases.SignedIn) {
	k.t.Helper()
	k.clock.Advance(time.Hour)
	mine = k.added(k.acme, "olga@other.test", events.RoleSupport)
	_, err := k.Persons.Prove(k.t.Context(), public(id.Organization{}), proof("olga@other.test"))
	k.must(err)
	return mine, k.signInWith(k.acme, "olga@other.test", another), k.signInWith(k.other, "olga@other.test", another)
}

func TestContacts_BothCodesChangeTheAddressOfAllRecords(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	p := k.posts()
	mine, here, there := k.person()
	k.must(p.email(here, k.acme, " Olga@New.test "))
	old, next := p.code("olga@other.test"), p.code("olga@new.test")
	k.fails(p.confirm(here, k.acme, next, old), "wrong_codes")
	k.fails(p.confirm(here, k.acme, "12345", old), "invalid_input")
	k.fails(p.confirm(there, k.other, old, next), "wrong_codes") // of another user, although of the same person
	k.must(p.confirm(here, k.acme, old, next))
	k.fails(p.confirm(here, k.acme, old, next), "wrong_codes")
	if !k.stands(here, k.acme) || k.stands(there, k.other) {
		t.Error("another session goes on, or the own one has ended")
	}
	for org, user := range map[id.Organization]id.User{k.acme: mine, k.other: k.olga} {
		if in := k.signInWith(org, "olga@new.test", another); in.User.ID != user {
			t.Errorf("at %s entered as %s", org, in.User.ID)
		}
		_, err := k.SignIns.SignIn(t.Context(), public(org), credentials("olga@other.test", another))
		k.fails(err, "wrong_credentials")
	}
	if notes := p.sent["olga@other.test"]; len(notes) != 2 ||
		notes[1].Template != events.AddressChanged || sixDigits.MatchString(notes[1].Text) {
		t.Errorf("sent to the old address: %+v", notes)
	}
	// the old address is free, and stands for nobody
	again, done, err := k.Staff.Add(t.Context(), asked(k.acme, "once more"), newcomer("olga@other.test"))
	k.must(err)
	k.shown(done)
	if again == mine {
		t.Error("the old address was not given up")
	}
	// a code to the phone that the person chooses opens the record; one that an administrator typed did not
	k.must(p.phone(k.signInWith(k.acme, "olga@new.test", another), k.acme, "0722 000 111"))
	if len(p.sent["olga@new.test"]) != 2 {
		t.Error("the first code did not go to the proven e-mail address")
	}
	in := k.signInWith(k.acme, "olga@new.test", another)
	k.must(p.confirm(in, k.acme, p.code("olga@new.test"), p.code("+254722000111")))
	k.must(p.Ask(t.Context(), k.acme, personal.Of("+254722000111")))
	chosenOne, err := p.Verify(t.Context(), public(k.acme), identitycases.CodeProof{
		Identifier: personal.Of("+254722000111"), Code: p.code("+254722000111"),
	})
	k.must(err)
	if chosenOne.User.ID != mine {
		t.Errorf("the phone opens %s", chosenOne.User.ID)
	}
}

// TestCodes_ARepeatAfterAStopKeepsTheCodeThatWasSent: the program stops after a gateway took a code, and the job comes
// again. The owner holds the code, so it stays good, and no second one is sent. What was certainly not taken is sent.
func TestCodes_ARepeatAfterAStopKeepsTheCodeThatWasSent(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	p := k.posts()
	var request id.Any
	p.Enqueue = func(_ context.Context, _ id.Organization, of id.Any) error {
		request = of
		return nil
	}
	ask := func() {
		t.Helper()
		k.must(p.Ask(t.Context(), k.acme, personal.Of("ada@acme.test")))
	}
	post, taken := p.Send, false
	p.Send = func(ctx context.Context, m identitycases.CodeMessage) error {
		if taken {
			k.must(post(ctx, m))
			panic("stopped") // nothing is recorded after the gateway took it
		}
		return errors.New("the gateway is away")
	}
	ask()
	if err := p.Deliver(t.Context(), request); err == nil {
		t.Error("a gateway that is away is no failure")
	}
	taken = true
	func() {
		defer func() { _ = recover() }()
		k.must(p.Deliver(t.Context(), request))
	}()
	p.Send = post
	k.must(p.Deliver(t.Context(), request))
	if n := len(p.sent["ada@acme.test"]); n != 1 {
		t.Fatalf("%d codes were sent", n)
	}
	_, err := p.Verify(t.Context(), public(k.acme), identitycases.CodeProof{
		Identifier: personal.Of("ada@acme.test"), Code: p.code("ada@acme.test"),
	})
	k.must(err)
}

// TestContacts_AnswersDoNotTellWhoHasAnAddress: until both codes are right, a taken address looks as a free one.
func TestContacts_AnswersDoNotTellWhoHasAnAddress(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	p := k.posts()
	_, err := k.Persons.Prove(t.Context(), public(id.Organization{}), proof("ada@acme.test"))
	k.must(err)
	ada := k.signInWith(k.acme, "ada@acme.test", another)
	_, err = k.Persons.Prove(t.Context(), public(id.Organization{}), proof("olga@other.test"))
	k.must(err)
	for _, address := range []string{"olga@other.test", "nobody@else.test"} {
		k.must(p.email(ada, k.acme, address))
		k.fails(p.confirm(ada, k.acme, p.code("ada@acme.test"), "000000"), "wrong_codes")
		if len(p.sent[address]) != 1 {
			t.Errorf("%d codes to %s", len(p.sent[address]), address)
		}
	}
	other := k.signInWith(k.acme, "ada@acme.test", another)
	k.must(p.email(ada, k.acme, "olga@other.test"))
	k.fails(p.confirm(ada, k.acme, p.code("ada@acme.test"), p.code("olga@other.test")), "email_taken")
	if !k.stands(other, k.acme) {
		t.Error("a refused change has ended a session")
	}
	// an address that the own organization has registered for somebody else
	k.added(k.acme, "sue@acme.test", events.RoleSupport)
	k.must(p.email(ada, k.acme, "sue@acme.test"))
	k.fails(p.confirm(ada, k.acme, p.code("ada@acme.test"), p.code("sue@acme.test")), "email_taken")
	// an unproven record of another organization is no hindrance, and stays what it is
	sam := k.added(k.other, "sam@mail.test", events.RoleSupport)
	k.clock.Advance(2 * time.Hour)
	k.must(p.email(ada, k.acme, "sam@mail.test"))
	k.must(p.confirm(ada, k.acme, p.code("ada@acme.test"), p.code("sam@mail.test")))
	if in := k.signIn(k.other, "sam@mail.test"); in.User.ID != sam {
		t.Errorf("entered as %s", in.User.ID)
	}
	k.fails(p.email(ada, k.acme, "Sam@mail.test"), "invalid_input")
	k.fails(p.email(ada, k.acme, "sam"), "invalid_input")
	k.fails(p.AskChange(t.Context(), public(k.acme), identitycases.NewContact{UserID: k.ada}), "invalid_input")
}

// TestContacts_OfTwoPersonsOneGetsTheAddress: the claim decides, for phones as well.
func TestContacts_OfTwoPersonsOneGetsTheAddress(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	p := k.posts()
	ins := map[id.Organization]identitycases.SignedIn{}
	for org, address := range map[id.Organization]string{k.acme: "ada@acme.test", k.other: "olga@other.test"} {
		_, err := k.Persons.Prove(t.Context(), public(id.Organization{}), proof(address))
		k.must(err)
		ins[org] = k.signInWith(org, address, another)
	}
	for _, of := range []struct {
		ask   func(identitycases.SignedIn, id.Organization, string) error
		to    string
		taken string
	}{{p.email, "both@mail.test", "email_taken"}, {p.phone, "+254733000222", "phone_taken"}} {
		codes := map[id.Organization][2]secrets.Text{}
		for org, in := range ins {
			k.must(of.ask(in, org, of.to))
			user, err := k.users.ByID(t.Context(), in.User.ID)
			k.must(err)
			codes[org] = [2]secrets.Text{p.code(user.Email), p.code(of.to)}
		}
		var group sync.WaitGroup
		var changed atomic.Int32
		for org, in := range ins {
			group.Go(func() {
				switch err := p.confirm(in, org, codes[org][0], codes[org][1]); failure.CodeOf(err) {
				case "":
					changed.Add(1)
				case of.taken:
				default:
					t.Error(err)
				}
			})
		}
		group.Wait()
		if changed.Load() != 1 {
			t.Errorf("%s belongs to %d persons", of.to, changed.Load())
		}
		k.clock.Advance(2 * time.Hour)
	}
}

// TestContacts_CodesAreForTheirChangeAlone: a code of a sign-in changes nothing, one of a change opens nothing, and a
// further wish, or the third wrong try, voids both.
func TestContacts_CodesAreForTheirChangeAlone(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	p := k.posts()
	in := k.signIn(k.acme, "ada@acme.test")
	k.must(p.email(in, k.acme, "ada@new.test"))
	old, next := p.code("ada@acme.test"), p.code("ada@new.test")
	for address, code := range map[string]secrets.Text{"ada@acme.test": old, "ada@new.test": next} {
		_, err := p.Verify(t.Context(), public(k.acme), identitycases.CodeProof{
			Identifier: personal.Of(address), Code: code,
		})
		k.fails(err, "wrong_code")
	}
	k.must(p.Ask(t.Context(), k.acme, personal.Of("ada@acme.test")))
	if signing := p.code("ada@acme.test"); signing != old {
		k.fails(p.confirm(in, k.acme, signing, next), "wrong_codes")
	}
	k.must(p.email(in, k.acme, "ada@newer.test"))
	k.fails(p.confirm(in, k.acme, old, next), "wrong_codes")
	old = p.code("ada@acme.test")
	k.fails(p.confirm(in, k.acme, old, next), "wrong_codes")
	k.fails(p.confirm(in, k.acme, old, "000000"), "wrong_codes")
	k.fails(p.confirm(in, k.acme, old, p.code("ada@newer.test")), "wrong_codes") // the fourth try of the pair
	k.clock.Advance(2 * time.Hour)
	k.must(p.email(in, k.acme, "ada@newest.test"))
	old, next = p.code("ada@acme.test"), p.code("ada@newest.test")
	k.clock.Advance(5 * time.Minute)
	k.fails(p.confirm(in, k.acme, old, next), "wrong_codes") // too late
}

// TestContacts_WhereTheFirstCodeGoes: to the phone of before only where it says who somebody is.
func TestContacts_WhereTheFirstCodeGoes(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	p := k.posts()
	k.added(k.acme, "nia@acme.test", events.RoleSupport) // with the phone 0712345678
	in := k.signIn(k.acme, "nia@acme.test")
	k.must(p.phone(in, k.acme, "+254722000333"))
	if len(p.sent["+254712345678"]) != 1 || len(p.sent["nia@acme.test"]) != 0 {
		t.Error("the code of an unproven user did not go to the phone")
	}
	k.must(p.confirm(in, k.acme, p.code("+254712345678"), p.code("+254722000333")))
	k.must(p.Ask(t.Context(), k.acme, personal.Of("+254722000333")))
	opened, err := p.Verify(t.Context(), public(k.acme), identitycases.CodeProof{
		Identifier: personal.Of("+254722000333"), Code: p.code("+254722000333"),
	})
	k.must(err)
	if notes := p.sent["+254712345678"]; opened.User.ID != in.User.ID || len(notes) != 2 ||
		notes[1].Template != events.AddressChanged {
		t.Errorf("the new phone opens %s, and the old one got %d messages", opened.User.ID, len(notes))
	}
	// the phone of a person was typed by an administrator, and the person changes it by codes alone
	_, err = k.Persons.Prove(t.Context(), public(id.Organization{}), proof("nia@acme.test"))
	k.must(err)
	in = k.signInWith(k.acme, "nia@acme.test", another)
	number := personal.Of("+254722000444")
	_, err = k.Staff.Correct(t.Context(), asked(k.acme, "own phone"), commands.CorrectUser{
		UserID: in.User.ID, OrgID: k.acme, By: in.User.ID, Phone: &number,
	})
	k.fails(err, "phone_by_code")
	k.clock.Advance(2 * time.Hour)
	k.must(p.phone(in, k.acme, "+254722000333")) // the present one, which now is to be proven
	k.must(p.confirm(in, k.acme, p.code("nia@acme.test"), p.code("+254722000333")))
	k.clock.Advance(2 * time.Hour)
	k.must(p.phone(in, k.acme, "+254722000555"))
	if last := p.sent["+254722000333"]; len(last) != 4 || sixDigits.FindString(last[3].Text) == "" {
		t.Errorf("the code did not go to the phone that the person has chosen: %d", len(last))
	}
}
