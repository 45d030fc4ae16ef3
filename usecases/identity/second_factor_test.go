package identitycases_test

import (
	"encoding/base32"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/totp"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// device is the second factor of a user.
type device struct {
	k        *kit
	secret   []byte
	recovery []secrets.Text
}

// now is the device's present code.
func (d device) now() secrets.Text { return totp.Code(d.secret, totp.Step(d.k.clock.Now())) }

// next lets the time of the present code pass, and gives the code after it.
func (d device) next() secrets.Text {
	d.k.clock.Advance(totp.Period)
	return d.now()
}

// wrong is no code of the steps around now.
func (d device) wrong() secrets.Text {
	at := totp.Step(d.k.clock.Now())
	for _, code := range []secrets.Text{"000000", "000001", "000002", "000003"} {
		if code != totp.Code(d.secret, at-1) && code != totp.Code(d.secret, at) && code != totp.Code(d.secret, at+1) {
			return code
		}
	}
	panic("four codes cannot all be right")
}

// offered begins an enrolment and gives its secret.
func (k *kit) offered(in identitycases.SignedIn, org id.Organization) device {
	k.t.Helper()
	shown, err := k.SecondFactors.Enrol(k.t.Context(), public(org), identitycases.Owner{
		UserID: in.User.ID, Password: chosen, Issuer: "The Acme",
	})
	k.must(err)
	secret, err := base32.StdEncoding.DecodeString(shown.Secret.Reveal())
	k.must(err)
	return device{k: k, secret: secret}
}

// enrolled gives a signed-in user a second factor.
func (k *kit) enrolled(in identitycases.SignedIn, org id.Organization) device {
	k.t.Helper()
	d := k.offered(in, org)
	var err error
	d.recovery, err = k.SecondFactors.Confirm(k.t.Context(), public(org), identitycases.Owner{
		UserID: in.User.ID, Session: in.Session.ID, Code: d.now(),
	})
	k.must(err)
	return d
}

// waiting signs in with the chosen password, which must ask for the second factor.
func (k *kit) waiting(org id.Organization, email string) secrets.Text {
	k.t.Helper()
	in := k.signIn(org, email)
	if in.Waiting.IsZero() || !in.Refresh.IsZero() || !in.Session.ID.IsZero() {
		k.t.Fatalf("signed in without the second factor: %+v", in)
	}
	return in.Waiting
}

// complete shows the second factor of a sign-in that waits.
func (k *kit) complete(org id.Organization, token, code secrets.Text) (identitycases.SignedIn, error) {
	k.t.Helper()
	return k.SecondFactors.Complete(k.t.Context(), public(org), identitycases.SecondProof{Token: token, Code: code})
}

func TestSecondFactor_EnrolmentNeedsThePasswordAndACode(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := k.signIn(k.acme, "ada@acme.test")
	owner := identitycases.Owner{UserID: k.ada, Session: in.Session.ID, Password: another, Issuer: "The Acme"}
	_, err := k.SecondFactors.Enrol(t.Context(), public(k.acme), owner)
	k.fails(err, "wrong_password")
	owner.Code = "000000"
	_, err = k.SecondFactors.Confirm(t.Context(), public(k.acme), owner)
	k.fails(err, "wrong_factor_code") // nothing was offered
	first := k.offered(in, k.acme)
	d := k.offered(in, k.acme)
	owner.Code = first.now()
	_, err = k.SecondFactors.Confirm(t.Context(), public(k.acme), owner)
	k.fails(err, "wrong_factor_code") // the second one has voided it
	owner.Code = d.now()
	codes, err := k.SecondFactors.Confirm(t.Context(), public(k.acme), owner)
	k.must(err)
	different := map[secrets.Text]bool{}
	for _, code := range codes {
		different[code] = len(code.Reveal()) == 11
	}
	if len(different) != 10 {
		t.Errorf("%d recovery codes", len(different))
	}
	_, err = k.SecondFactors.Confirm(t.Context(), public(k.acme), owner)
	k.fails(err, "second_factor_enrolled")
	_, err = k.SecondFactors.Enrol(t.Context(), public(k.acme), owner)
	k.fails(err, "second_factor_enrolled")
	// an offer ends after fifteen minutes, or five tries
	olga := k.signIn(k.other, "olga@other.test")
	late, other := k.offered(olga, k.other), identitycases.Owner{UserID: k.olga, Session: olga.Session.ID}
	k.clock.Advance(15 * time.Minute)
	other.Code = late.now()
	_, err = k.SecondFactors.Confirm(t.Context(), public(k.other), other)
	k.fails(err, "wrong_factor_code")
	tried := k.offered(olga, k.other)
	for range 5 {
		other.Code = tried.wrong()
		_, err = k.SecondFactors.Confirm(t.Context(), public(k.other), other)
		k.fails(err, "wrong_factor_code")
	}
	other.Code = tried.now()
	_, err = k.SecondFactors.Confirm(t.Context(), public(k.other), other)
	k.fails(err, "wrong_factor_code")
}

func TestSecondFactor_EnrolmentEndsSessionsThatShowedNone(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	old, in := k.signIn(k.acme, "ada@acme.test"), k.signIn(k.acme, "ada@acme.test")
	d := k.enrolled(in, k.acme)
	if k.stands(old, k.acme) || !k.stands(in, k.acme) {
		t.Error("the other session goes on, or the own one has ended")
	}
	_, err := k.SignIns.Renew(t.Context(), public(k.acme), old.Refresh)
	k.fails(err, "refresh_token_invalid")
	// removal, by password and code
	owner := identitycases.Owner{UserID: k.ada, Session: in.Session.ID, Password: another, Code: d.next()}
	k.fails(k.SecondFactors.Remove(t.Context(), public(k.acme), owner), "wrong_password")
	owner.Password, owner.Code = chosen, d.wrong()
	k.fails(k.SecondFactors.Remove(t.Context(), public(k.acme), owner), "wrong_factor_code")
	waiting := k.waiting(k.acme, "ada@acme.test")
	owner.Code = d.now()
	k.must(k.SecondFactors.Remove(t.Context(), public(k.acme), owner))
	k.fails(k.SecondFactors.Remove(t.Context(), public(k.acme), owner), "second_factor_missing")
	_, err = k.complete(k.acme, waiting, d.next())
	k.fails(err, "sign_in_expired")
	if in := k.signIn(k.acme, "ada@acme.test"); !in.Waiting.IsZero() {
		t.Error("a second factor that was removed is asked for")
	}
}

func TestSecondFactor_OfTwoEnrolmentsAtOnceOneCounts(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := k.signIn(k.acme, "ada@acme.test")
	d := k.offered(in, k.acme)
	var group sync.WaitGroup
	var right atomic.Int32
	for range 8 {
		group.Go(func() {
			codes, err := k.SecondFactors.Confirm(t.Context(), public(k.acme), identitycases.Owner{
				UserID: k.ada, Session: in.Session.ID, Code: d.now(),
			})
			if err == nil && len(codes) == 10 {
				right.Add(1)
			}
		})
	}
	group.Wait()
	if right.Load() != 1 {
		t.Errorf("%d enrolments were confirmed", right.Load())
	}
	if _, err := k.complete(k.acme, k.waiting(k.acme, "ada@acme.test"), d.next()); err != nil {
		t.Error(err)
	}
}

// TestSecondFactor_ACodeCountsOnceAlsoAtOnce: neither again, nor at two programs at the same moment, nor for another
// user, and the same for a recovery code.
func TestSecondFactor_ACodeCountsOnceAlsoAtOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	d := k.enrolled(k.signIn(k.acme, "ada@acme.test"), k.acme)
	_, err := k.complete(k.acme, k.waiting(k.acme, "ada@acme.test"), d.now())
	k.fails(err, "wrong_second_factor") // the enrolment has used it
	k.enrolled(k.signIn(k.other, "olga@other.test"), k.other)
	for _, code := range []secrets.Text{d.next(), d.recovery[0]} {
		_, err := k.complete(k.other, k.waiting(k.other, "olga@other.test"), code)
		k.fails(err, "wrong_second_factor")
		tokens := make([]secrets.Text, 6)
		for i := range tokens {
			tokens[i] = k.waiting(k.acme, "ada@acme.test")
		}
		var group sync.WaitGroup
		var entered atomic.Int32
		for _, token := range tokens {
			group.Go(func() {
				if _, err := k.complete(k.acme, token, code); err == nil {
					entered.Add(1)
				} else if failure.CodeOf(err) != "wrong_second_factor" {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if entered.Load() != 1 {
			t.Errorf("%d have entered with one code", entered.Load())
		}
	}
}

func TestSecondFactor_ATokenIsSpentByFiveTriesAndByAnotherHost(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	d := k.enrolled(k.signIn(k.acme, "ada@acme.test"), k.acme)
	token := k.waiting(k.acme, "ada@acme.test")
	for range 5 {
		_, err := k.complete(k.acme, token, d.wrong())
		k.fails(err, "wrong_second_factor")
	}
	_, err := k.complete(k.acme, token, d.next())
	k.fails(err, "sign_in_expired")
	for _, host := range []id.Organization{k.other, {}} {
		token = k.waiting(k.acme, "ada@acme.test")
		_, err = k.complete(host, token, d.now())
		k.fails(err, "sign_in_expired")
		_, err = k.complete(k.acme, token, d.now())
		k.fails(err, "sign_in_expired")
	}
	token = k.waiting(k.acme, "ada@acme.test")
	k.clock.Advance(5 * time.Minute)
	_, err = k.complete(k.acme, token, d.now())
	k.fails(err, "sign_in_expired")
	token = k.waiting(k.acme, "ada@acme.test")
	in, err := k.complete(k.acme, token, d.now())
	k.must(err)
	if !k.stands(in, k.acme) || in.Role != events.RoleAdmin {
		t.Errorf("entered as %+v", in)
	}
	for _, spent := range []secrets.Text{token, "", "made-up"} { // a replay, and what never was a token
		_, err = k.complete(k.acme, spent, d.next())
		k.fails(err, "sign_in_expired")
	}
}

// TestSecondFactor_GuessesAreBoundedOverAllTokensAndTheOwnerEnters: whoever knows the password uses the tries up, and
// the owner enters with a recovery code.
func TestSecondFactor_GuessesAreBoundedOverAllTokensAndTheOwnerEnters(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	d := k.enrolled(k.signIn(k.acme, "ada@acme.test"), k.acme)
	var group sync.WaitGroup
	var wrong, limited atomic.Int32
	for range 4 {
		token := k.waiting(k.acme, "ada@acme.test")
		for range 5 {
			group.Go(func() {
				switch _, err := k.complete(k.acme, token, d.wrong()); failure.CodeOf(err) {
				case "wrong_second_factor":
					wrong.Add(1)
				case "second_factor_limited":
					limited.Add(1)
				default:
					t.Error(err)
				}
			})
		}
	}
	group.Wait()
	if wrong.Load() != 10 || limited.Load() != 10 {
		t.Errorf("%d wrong, %d limited", wrong.Load(), limited.Load())
	}
	_, err := k.complete(k.acme, k.waiting(k.acme, "ada@acme.test"), d.next())
	k.fails(err, "second_factor_limited")
	if _, err := k.complete(k.acme, k.waiting(k.acme, "ada@acme.test"), " "+d.recovery[3]); err != nil {
		t.Errorf("the owner is kept out: %v", err)
	}
	k.clock.Advance(2 * time.Hour)
	if _, err := k.complete(k.acme, k.waiting(k.acme, "ada@acme.test"), d.now()); err != nil {
		t.Errorf("the owner is kept out later: %v", err)
	}
}

func TestSecondFactor_AChangedPasswordEndsAWaitingSignIn(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := k.signIn(k.acme, "ada@acme.test")
	d := k.enrolled(in, k.acme)
	token := k.waiting(k.acme, "ada@acme.test")
	_, err := k.OwnPassword.Change(t.Context(), public(k.acme), identitycases.NewPassword{
		UserID: k.ada, Session: in.Session.ID, Current: chosen, New: another,
	})
	k.must(err)
	_, err = k.complete(k.acme, token, d.next())
	k.fails(err, "sign_in_expired")
	// so does the end of the right to enter
	second := k.added(k.acme, "sue@acme.test", events.RoleSupport)
	d = k.enrolled(k.signIn(k.acme, "sue@acme.test"), k.acme)
	token = k.waiting(k.acme, "sue@acme.test")
	_, err = k.Staff.Disable(t.Context(), asked(k.acme, "out"), commands.DisableMember{
		UserID: second, OrgID: k.acme, By: k.ada, Reason: "left",
	})
	k.must(err)
	_, err = k.complete(k.acme, token, d.next())
	k.fails(err, "sign_in_expired")
}

// TestSecondFactor_ResetOfThePasswordSkipsNothing: whoever reads the mailbox has the password, and nothing more.
func TestSecondFactor_ResetOfThePasswordSkipsNothing(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	d := k.enrolled(k.signIn(k.acme, "ada@acme.test"), k.acme)
	token := k.waiting(k.acme, "ada@acme.test")
	_, err := k.Persons.Prove(t.Context(), public(k.acme), proof("ada@acme.test"))
	k.must(err)
	_, err = k.complete(k.acme, token, d.next())
	k.fails(err, "sign_in_expired")
	in := k.signInWith(k.acme, "ada@acme.test", another)
	if in.Waiting.IsZero() || !in.Refresh.IsZero() {
		t.Fatal("the reset has skipped the second factor")
	}
	if _, err := k.complete(k.acme, in.Waiting, d.now()); err != nil {
		t.Error(err)
	}
}

func TestRemoveLost_TakesOffWhatTheOrganizationsRecordAloneHas(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.clock.Advance(time.Hour)
	mine := k.added(k.acme, "olga@other.test", events.RoleSupport)
	here, there := k.signIn(k.acme, "olga@other.test"), k.signIn(k.other, "olga@other.test")
	k.enrolled(here, k.acme)
	guard := k.enrolled(there, k.other)
	remove := func(org id.Organization, user id.User) error {
		_, err := k.SecondFactors.RemoveLost(t.Context(), asked(org, id.New[id.Any]().String()),
			commands.RemoveLostSecondFactor{UserID: user, OrgID: org, By: k.ada, Reason: "the phone was stolen"})
		return err
	}
	k.fails(remove(k.other, mine), "user_not_found")
	k.fails(remove(k.acme, k.olga), "user_not_found")
	k.fails(remove(k.acme, k.ada), "own_second_factor")
	k.fails(remove(id.Organization{}, k.olga), "user_not_found")
	// also of a person who has proven the address; the one at the other organization stays
	_, err := k.Persons.Prove(t.Context(), public(id.Organization{}), proof("olga@other.test"))
	k.must(err)
	k.must(remove(k.acme, mine))
	k.fails(remove(k.acme, mine), "second_factor_missing")
	if in := k.signInWith(k.acme, "olga@other.test", another); in.Refresh.IsZero() {
		t.Error("it is asked for after its removal")
	}
	in := k.signInWith(k.other, "olga@other.test", another)
	if in.Waiting.IsZero() {
		t.Fatal("an organization has taken off what guards another")
	}
	if _, err := k.complete(k.other, in.Waiting, guard.next()); err != nil {
		t.Error(err)
	}
}
