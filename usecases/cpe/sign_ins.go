package cpecases

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Times and limits of sign-ins at the CPE server. Source: docs/rules/cpe.md#sign-in.
const (
	// askedAgain is how long a CPE is not asked for a password that it has not shown when it was asked.
	askedAgain = time.Hour
	// answersWithin is how long a CPE that was asked may take: as long as the CPE server keeps a session.
	answersWithin = 30 * time.Second
	// refusalNoted is the time between two notes of refusals of one CPE.
	refusalNoted = time.Minute
	// knocksKept bounds the CPEs about which it is known when they were asked. One that is dropped is asked once more.
	knocksKept = 1 << 16
)

// SignIns knows which CPEs were asked for their password lately. The state is of this program alone: another one asks
// once more. Safe for concurrent use.
type SignIns struct {
	clock clock.Clock
	// username is the name by which the CPE server knows a CPE, and by which it signs in.
	username func(events.CpeIdentity) string
	refused  func(ctx context.Context, cpe id.CPE, at time.Time) error

	mu     sync.Mutex                   // held while a knock is read and changed
	knocks *lru.Cache[id.Secret, knock] // by where the password is, so that a new one begins anew
}

// knock is when a CPE was asked for its password without having shown it, and when a refusal was noted. The zero value
// is never.
type knock struct{ asked, noted time.Time }

// NewSignIns makes SignIns that have asked nobody. refused notes that a CPE was refused.
func NewSignIns(
	c clock.Clock, username func(events.CpeIdentity) string,
	refused func(ctx context.Context, cpe id.CPE, at time.Time) error,
) *SignIns {
	kept, err := lru.New[id.Secret, knock](knocksKept)
	if err != nil {
		panic(err) // the size is positive
	}
	return &SignIns{clock: c, username: username, refused: refused, knocks: kept}
}

// change reads and replaces the knock of a CPE in one step.
func (s *SignIns) change(of signIn, by func(k *knock, now time.Time)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, _ := s.knocks.Get(of.ref())
	by(&k, s.clock.Now())
	s.knocks.Add(of.ref(), k)
}

// shown notes that a CPE has shown its password.
func (s *SignIns) shown(of signIn) {
	s.change(of, func(k *knock, _ time.Time) { k.asked = time.Time{} })
}

// asks reports whether a CPE that has its password and has never shown it is asked for it: now and then, because one
// that was asked and cannot answer comes later than it would.
func (s *SignIns) asks(of signIn) (asks bool) {
	s.change(of, func(k *knock, now time.Time) {
		if asks = now.Sub(k.asked).Abs() >= askedAgain; asks {
			k.asked = now
		}
	})
	return asks
}

// refuse notes a CPE that must show its password and has not. Each call begins with a question, so that the first knock
// is no refusal.
func (s *SignIns) refuse(ctx context.Context, of signIn) error {
	var at time.Time
	s.change(of, func(k *knock, now time.Time) {
		if now.Sub(k.asked).Abs() <= answersWithin && now.Sub(k.noted).Abs() >= refusalNoted {
			k.noted, at = now, now
		}
		k.asked = now
	})
	if at.IsZero() {
		return nil
	}
	return s.refused(ctx, of.cpe, at)
}

// signIn has all that is known about the sign-in of a CPE. The zero value is that of one which nobody has.
type signIn struct {
	cpe    id.CPE
	org    id.Organization // zero = it is let in
	number int             // of its password
	proven bool
}

// ref is where the vault has the password.
func (s signIn) ref() id.Secret { return commands.CpeSignInRef(s.cpe, s.number) }

// signInOf finds it in memory, and for a CPE that is not there in the log, because a stranger must not be let in while
// the memory is behind.
func (u CPEs) signInOf(ctx context.Context, named events.CpeIdentity) (signIn, error) {
	of := commands.CpeID(commands.NormalCpeIdentity(named))
	if told, known := u.Told(of); known {
		return signIn{cpe: of, org: told.OrgID, number: told.SignIn, proven: told.SignInProven}, nil
	}
	present, _, err := bus.LoadUnchecked[cpe.CPE](ctx, u.Bus, of) // the CPE itself asks
	return signIn{cpe: of, org: present.Org, number: present.SignIn, proven: present.Proven}, err
}

// SignInPassword gives the password that a CPE is to show the CPE server; zero = it has none.
func (u CPEs) SignInPassword(ctx context.Context, named events.CpeIdentity) (secrets.Text, error) {
	if u.SignIns == nil {
		return "", nil
	}
	s, err := u.signInOf(ctx, named)
	if err != nil || s.org.IsZero() {
		return "", err
	}
	return u.Passwords.Of(ctx, s.ref())
}

// Admit decides whether a CPE that calls is let in; shown says that it has shown its password. One that has shown it
// once must show it, also when the password is lost. All others are let in; one that has a password is asked for it
// first.
func (u CPEs) Admit(
	ctx context.Context, meta commands.Meta, named events.CpeIdentity, shown bool,
) (bool, error) {
	if u.SignIns == nil {
		return true, nil
	}
	s, err := u.signInOf(ctx, named)
	switch {
	case err != nil:
		return false, err
	case s.org.IsZero():
		return true, nil
	case shown:
		u.SignIns.shown(s)
		return u.proven(ctx, meta, s)
	case s.proven:
		return false, u.SignIns.refuse(ctx, s)
	}
	password, err := u.Passwords.Of(ctx, s.ref())
	if err != nil {
		return false, err
	}
	return password.IsZero() || !u.SignIns.asks(s), nil
}

// proven records the first proof. It lets the CPE in also when its password has just become worth nothing: then all are
// let in.
func (u CPEs) proven(ctx context.Context, meta commands.Meta, s signIn) (bool, error) {
	if s.proven {
		return true, nil
	}
	meta.OrgID = s.org
	_, err := u.Bus.Execute(ctx, commands.ProveCpeSignIn{CpeID: s.cpe, SignIn: s.number}, meta)
	return err == nil, err
}

// signInParameters are name and password of a CPE at the CPE server, made when it has none yet: once for each time that
// it signs in anew. One whose password is lost gets none, because it could not come in to fetch it.
func (u CPEs) signInParameters(
	ctx context.Context, cpe id.CPE, told cpeviews.Told, named events.CpeIdentity,
) ([]Parameter, error) {
	if u.SignIns == nil || told.OrgID.IsZero() {
		return nil, nil
	}
	ref := commands.CpeSignInRef(cpe, told.SignIn)
	password, err := u.Passwords.Of(ctx, ref)
	if err == nil && password.IsZero() && !told.SignInProven {
		secret := vault.Secret{Ref: ref, OrgID: told.OrgID, Purpose: commands.CpeSignInPurpose}
		if err = u.Secrets.Put(ctx, secret, []byte(rand.Text())); err == nil {
			password, err = u.Passwords.Of(ctx, ref) // of two that made one at once, one was kept
		}
	}
	if err != nil || password.IsZero() {
		return nil, err
	}
	var list []Parameter
	for _, root := range []string{tr181, tr098} {
		list = append(list,
			Parameter{root + "ManagementServer.Username", secrets.Text(u.SignIns.username(named)), TypeText},
			Parameter{root + "ManagementServer.Password", password, TypeText})
	}
	return list, nil
}

// maxReason bounds why a CPE signs in anew, in characters.
const maxReason = 500

// SignInAnew lets a CPE of the organization in without its password, until it has shown a new one; the events say why.
// Fails: cpe_not_found, invalid_input.
func (u CPEs) SignInAnew(ctx context.Context, asked usecases.Asked, of id.CPE, reason string) (bus.Result, error) {
	var f failure.Faults
	f.Check(strings.TrimSpace(reason) != "", "reason", "is required")
	f.Check(utf8.RuneCountInString(reason) <= maxReason, "reason", "must be at most %d characters", maxReason)
	if err := f.Err(); err != nil {
		return bus.Result{}, err
	}
	asked.Meta.Reason = reason
	return u.Bus.Execute(ctx, commands.EndCpeSignIn{CpeID: of}, asked.Meta)
}
