package cpecases_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases/cpe"
)

// signInKit has a CPE of an organization, which signs in.
type signInKit struct {
	*kit
	now     *clock.Manual
	acme    id.Organization
	refused int // so many refusals were noted
}

// newSignInKit claims the CPE of these tests.
func newSignInKit(t *testing.T) *signInKit {
	t.Helper()
	k := &signInKit{
		kit: newKit(t), acme: id.New[id.Organization](),
		now: clock.NewManual(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)),
	}
	k.SignIns = k.signIns()
	k.asks(box)
	k.Run(t, coretest.Operator(id.Organization{}), coretest.NewOrganization(k.acme, "acme"))
	k.claims()
	return k
}

// signIns are those of a program that has just started.
func (k *signInKit) signIns() *cpecases.SignIns {
	return cpecases.NewSignIns(k.now, func(i events.CpeIdentity) string { return "box " + i.SerialNumber },
		func(context.Context, id.CPE, time.Time) error { k.refused++; return nil })
}

// claims takes the CPE for the organization.
func (k *signInKit) claims() {
	k.t.Helper()
	claim := cpecases.Claim{CpeID: commands.CpeID(box)}
	if _, err := k.Claim(k.t.Context(), coretest.Ask(k.acme), claim); err != nil {
		k.t.Fatal(err)
	}
}

// given identifies the CPE, and gives the password that it is told; "" = none.
func (k *signInKit) given() (password string) {
	k.t.Helper()
	for _, p := range k.asks(box).Parameters {
		switch {
		case strings.HasSuffix(p.Name, ".ManagementServer.Username") && p.Value.Reveal() != "box SN-1":
			k.t.Errorf("%s is %s", p.Name, p.Value.Reveal())
		case strings.HasSuffix(p.Name, ".ManagementServer.Password"):
			password = p.Value.Reveal()
		}
	}
	return password
}

// expected is the password that the CPE server compares with.
func (k *signInKit) expected() string {
	k.t.Helper()
	password, err := k.SignInPassword(k.t.Context(), box)
	if err != nil {
		k.t.Fatal(err)
	}
	return password.Reveal()
}

// admits knocks, and fails unless the CPE is let in or not, as wanted.
func (k *signInKit) admits(shown, want bool) {
	k.t.Helper()
	if got, err := k.Admit(k.t.Context(), hook(), box, shown); err != nil || got != want {
		k.t.Errorf("shown %t: let in %t, want %t, %v", shown, got, want, err)
	}
}

// TestSignIn_IsAskedForAndThenRequired: a CPE gets one password, is asked for it, and must show it once it has. Another
// program knows that it must.
func TestSignIn_IsAskedForAndThenRequired(t *testing.T) {
	t.Parallel()
	k := newSignInKit(t)
	if k.expected() != "" {
		t.Error("it has a password before it was told one")
	}
	k.admits(false, true)
	given := k.given()
	if len(given) < 20 || k.given() != given || k.expected() != given {
		t.Errorf("given %d characters, or several", len(given))
	}
	k.admits(false, false) // it is asked,
	k.admits(false, true)  // and may be unable to answer
	k.now.Advance(59 * time.Minute)
	k.admits(false, true) // it is not asked all the time
	k.now.Advance(time.Minute)
	k.admits(false, false)
	k.admits(true, true)
	k.admits(false, false)
	k.admits(false, false)
	k.SignIns = k.signIns()
	k.admits(false, false)
	k.admits(false, false)
	k.admits(true, true)
	if k.given() != given {
		t.Error("a CPE that boots is told another password")
	}
}

// TestSignIn_EndsWithReasonAndRelease: afterwards the CPE is let in and gets a new password, of which that of before is
// no proof.
func TestSignIn_EndsWithReasonAndRelease(t *testing.T) {
	t.Parallel()
	k := newSignInKit(t)
	of := commands.CpeID(box)
	first := k.given()
	k.admits(true, true)
	for _, reason := range []string{"", "  ", strings.Repeat("a", 501)} {
		_, err := k.SignInAnew(t.Context(), coretest.Ask(k.acme), of, reason)
		if failure.KindOf(err) != failure.Invalid {
			t.Errorf("because of %q: %v", reason, err)
		}
	}
	rival := coretest.Ask(id.New[id.Organization]())
	if _, err := k.SignInAnew(t.Context(), rival, of, "mine"); failure.CodeOf(err) != "cpe_not_found" {
		t.Errorf("by another organization: %v", err)
	}
	k.admits(false, false)
	if _, err := k.SignInAnew(t.Context(), coretest.Ask(k.acme), of, "reset by its pin"); err != nil {
		t.Fatal(err)
	}
	k.admits(false, true)
	second := k.given()
	if second == "" || second == first {
		t.Error("it has no new password")
	}
	k.admits(false, false) // although it was refused a moment ago
	k.admits(true, true)
	k.admits(false, false)
	if _, err := k.Release(t.Context(), coretest.Ask(k.acme), of); err != nil {
		t.Fatal(err)
	}
	if k.expected() != "" || k.given() != "" {
		t.Error("a CPE of nobody has a password")
	}
	k.admits(false, true)
	k.claims()
	k.admits(false, true)
	if third := k.given(); third == "" || third == second {
		t.Error("the next organization has the password of the one before")
	}
}

// TestSignIn_ALostPasswordIsRequiredAllTheSame: as after the restore of an older vault.
func TestSignIn_ALostPasswordIsRequiredAllTheSame(t *testing.T) {
	t.Parallel()
	k := newSignInKit(t)
	of := commands.CpeID(box)
	k.given()
	k.admits(true, true)
	if err := k.Secrets.Delete(t.Context(), commands.CpeSignInRef(of, 0)); err != nil {
		t.Fatal(err)
	}
	k.Passwords = cpecases.NewPasswords(k.Secrets) // of a program that has just started
	if k.given() != "" || k.expected() != "" {
		t.Error("a password was made that nobody can come in to fetch")
	}
	k.admits(false, false)
	if _, err := k.SignInAnew(t.Context(), coretest.Ask(k.acme), of, "restored"); err != nil {
		t.Fatal(err)
	}
	k.admits(false, true)
	if k.given() == "" {
		t.Error("it has no new password")
	}
}

// TestSignIn_RefusalsAreNotedByTheMinute: however often somebody knocks; and a question that is answered is none.
func TestSignIn_RefusalsAreNotedByTheMinute(t *testing.T) {
	t.Parallel()
	k := newSignInKit(t)
	k.given()
	k.admits(true, true)
	for range 3 { // as the CPE itself comes
		k.admits(false, false)
		k.admits(true, true)
	}
	k.admits(false, false)
	k.now.Advance(5 * time.Minute) // one that is broken off is no refusal of the next
	k.admits(false, false)
	k.admits(true, true)
	if k.refused != 0 {
		t.Errorf("%d refusals of the CPE itself", k.refused)
	}
	for range 1000 {
		k.admits(false, false)
	}
	k.now.Advance(30 * time.Second)
	k.admits(false, false)
	if k.refused != 1 {
		t.Errorf("%d notes in a minute", k.refused)
	}
	k.now.Advance(30 * time.Second)
	k.admits(false, false)
	if k.refused != 2 {
		t.Errorf("%d notes after a minute", k.refused)
	}
}

// TestSignIn_NobodyIsLetInWhileItIsNotKnown: an error is no permission; and without the setting nobody is asked.
func TestSignIn_NobodyIsLetInWhileItIsNotKnown(t *testing.T) {
	t.Parallel()
	k := newSignInKit(t)
	k.given()
	k.admits(true, true)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if in, err := k.Admit(ended, hook(), box, false); in || !errors.Is(err, context.Canceled) {
		t.Errorf("let in %t, %v", in, err)
	}
	k.SignIns = nil
	k.admits(false, true)
	if k.given() != "" || k.expected() != "" {
		t.Error("a password without the setting")
	}
}
