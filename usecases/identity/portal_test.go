package identitycases_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// portalKit has subscribers as well.
type portalKit struct{ *kit }

// newPortalKit starts it.
func newPortalKit(t *testing.T) portalKit {
	t.Helper()
	k := portalKit{newKit(t)}
	bus.Register(k.Bus, subscribers.Subscribers())
	return k
}

// subscriber registers a customer with a phone, and an e-mail address or none.
func (k portalKit) subscriber(org id.Organization, account int, phone, email string) id.Subscriber {
	k.t.Helper()
	s := id.New[id.Subscriber]()
	k.Run(k.t, asked(org, "subscriber "+s.String()).Meta, commands.RegisterSubscriber{
		SubscriberID: s, OrgID: org, AccountNumber: commands.AccountNumber(account), Currency: money.KES,
		Details: events.SubscriberDetails{
			FirstName: personal.Of("Wanja"), Phone: personal.Of(phone), Email: personal.Of(email),
		},
	})
	return s
}

// portal lists the sign-ins of a subscriber.
func (k portalKit) portal(org id.Organization, of id.Subscriber, done bus.Result) []identityviews.PortalRow {
	k.t.Helper()
	k.shown(done)
	rows, err := k.users.Portal(k.t.Context(), org, of)
	k.must(err)
	return rows
}

// given gives access and lists the sign-ins after it.
func (k portalKit) given(
	org id.Organization, key string, of id.Subscriber, in identitycases.PortalAddresses,
) []identityviews.PortalRow {
	k.t.Helper()
	done, err := k.Portal.Give(k.t.Context(), asked(org, key), of, in)
	k.must(err)
	return k.portal(org, of, done)
}

// byPhone names a phone alone.
func byPhone(text string) identitycases.PortalAddresses {
	return identitycases.PortalAddresses{Phone: personal.Of(text)}
}

// byEmail names an e-mail address alone.
func byEmail(text string) identitycases.PortalAddresses {
	return identitycases.PortalAddresses{Email: personal.Of(text)}
}

func TestPortal_TheOwnContactIsOneSignInForEachAddress(t *testing.T) {
	t.Parallel()
	k := newPortalKit(t)
	house := k.subscriber(k.acme, 1, "+254712000001", "wanja@home.test")
	rows := k.given(k.acme, "own", house, identitycases.PortalAddresses{})
	if len(rows) != 2 || rows[0].Phone != "+254712000001" || rows[0].Email != "" || rows[1].Email != "wanja@home.test" {
		t.Fatalf("the sign-ins: %+v", rows)
	}
	if again := k.given(k.acme, "own", house, identitycases.PortalAddresses{}); len(again) != 2 {
		t.Errorf("a repeat made %+v", again)
	}
	shop := k.subscriber(k.acme, 2, "+254712000002", "")
	both := k.given(k.acme, "shop", shop, byPhone("0712 000 001"))
	if len(both) != 1 || both[0].UserID != rows[0].UserID {
		t.Errorf("the phone of before is another user: %+v", both)
	}
	if s, _ := k.directory.Standing(rows[0].UserID, k.acme, id.Session{}); len(s.Own) != 2 {
		t.Errorf("the phone sees %v", s.Own)
	}
	if s, _ := k.directory.Standing(rows[1].UserID, k.acme, id.Session{}); len(s.Own) != 1 || s.Own[0] != house {
		t.Errorf("the e-mail address sees what was given to the phone: %v", s.Own)
	}
}

func TestPortal_AnotherOrganizationsSubscriberAndUserDoNotExist(t *testing.T) {
	t.Parallel()
	k := newPortalKit(t)
	house := k.subscriber(k.acme, 1, "+254712000001", "")
	here := k.given(k.acme, "here", house, byPhone("+254712000001"))
	_, err := k.Portal.Give(t.Context(), asked(k.other, "foreign"), house, byPhone("+254712000001"))
	k.fails(err, "subscriber_not_found")
	_, err = k.Portal.End(t.Context(), asked(k.other, "end"), house, here[0].UserID)
	k.fails(err, "subscriber_not_found")
	flat := k.subscriber(k.other, 2, "+254712000001", "")
	there := k.given(k.other, "there", flat, byPhone("+254712000001"))
	if there[0].UserID == here[0].UserID {
		t.Error("one user of two organizations")
	}
	_, err = k.Portal.End(t.Context(), asked(k.other, "mixed"), flat, here[0].UserID)
	k.fails(err, "user_not_found")
	for _, of := range []struct {
		user id.User
		org  id.Organization
	}{{here[0].UserID, k.other}, {there[0].UserID, k.acme}} {
		if s, known := k.directory.Standing(of.user, of.org, id.Session{}); known {
			t.Errorf("enters the other organization as %+v", s)
		}
	}
}

func TestPortal_AnAddressOfStaffStaysTheirs(t *testing.T) {
	t.Parallel()
	k := newPortalKit(t)
	house := k.subscriber(k.acme, 1, "+254712000001", "")
	nia, done, err := k.Staff.Add(t.Context(), asked(k.acme, "nia"), newcomer("nia@acme.test"))
	k.must(err)
	k.shown(done)
	for _, in := range []identitycases.PortalAddresses{
		byEmail("Nia@Acme.test"), byPhone("0712345678"),
		{Email: personal.Of("free@home.test"), Phone: personal.Of("0712345678")},
	} {
		_, err := k.Portal.Give(t.Context(), asked(k.acme, "x"+in.Email.Reveal()+in.Phone.Reveal()), house, in)
		k.fails(err, "staff_address")
	}
	if rows := k.portal(k.acme, house, bus.Result{}); len(rows) != 0 {
		t.Errorf("a refused wish gave %+v", rows)
	}
	if m, _ := k.member(nia, k.acme); m.Role != events.RoleSupport {
		t.Errorf("the member of staff is %s now", m.Role)
	}
	rows := k.given(k.other, "other", k.subscriber(k.other, 2, "+254712000002", ""), byEmail("nia@acme.test"))
	if len(rows) != 1 || rows[0].UserID == nia {
		t.Errorf("another organization's staff are customers here: %+v", rows)
	}
}

func TestPortal_OfTwoAtOnceBothGiveTheSameSignIn(t *testing.T) {
	t.Parallel()
	k := newPortalKit(t)
	house := k.subscriber(k.acme, 1, "+254712000001", "")
	shop := k.subscriber(k.acme, 2, "+254712000002", "")
	var results [2]error
	var wait sync.WaitGroup
	for i, of := range []id.Subscriber{house, shop} {
		wait.Go(func() {
			for { // the model may not show the other one yet, which is told by its claim
				_, results[i] = k.Portal.Give(t.Context(), asked(k.acme, of.String()), of, byPhone("+254712000009"))
				if results[i] == nil || t.Context().Err() != nil {
					return
				}
			}
		})
	}
	wait.Wait()
	k.must(errors.Join(results[:]...))
	head, err := k.Store.Head(t.Context())
	k.must(err)
	one, two := k.portal(k.acme, house, bus.Result{Position: head}), k.portal(k.acme, shop, bus.Result{Position: head})
	if len(one) != 1 || len(two) != 1 || one[0].UserID != two[0].UserID {
		t.Errorf("two users of one phone: %+v, %+v", one, two)
	}
}

func TestPortal_TheEndOfTheLastSubscriberEndsTheSessions(t *testing.T) {
	t.Parallel()
	k := newPortalKit(t)
	house := k.subscriber(k.acme, 1, "+254712000001", "")
	shop := k.subscriber(k.acme, 2, "+254712000002", "")
	_, done, err := k.Staff.Add(t.Context(), asked(k.acme, "kim"), func() identitycases.NewMember {
		kim := newcomer("kim@home.test")
		kim.Role = events.RoleSubscriber
		return kim
	}())
	k.must(err)
	kim := k.known("kim@home.test", done)
	k.given(k.acme, "house", house, byEmail("kim@home.test"))
	rows := k.given(k.acme, "shop", shop, byEmail("kim@home.test"))
	if len(rows) != 1 || rows[0].UserID != kim {
		t.Fatalf("a user who was there is another one: %+v", rows)
	}
	in := k.signInWith(k.acme, "kim@home.test", temporary)
	done, err = k.Portal.End(t.Context(), asked(k.acme, "end house"), house, kim)
	k.must(err)
	if s, _ := k.directory.Standing(kim, k.acme, in.Session.ID); len(s.Own) != 1 || s.Own[0] != shop {
		t.Errorf("after the end of one: %+v", s)
	}
	k.shown(done)
	if _, err := k.Portal.End(t.Context(), asked(k.acme, "end shop"), shop, kim); err != nil {
		t.Fatal(err)
	}
	if k.stands(in, k.acme) {
		t.Error("a session of somebody who sees nothing goes on")
	}
	_, err = k.SignIns.SignIn(t.Context(), public(k.acme), credentials("kim@home.test", temporary))
	k.fails(err, "wrong_credentials")
	_, err = k.SignIns.Renew(t.Context(), public(k.acme), in.Refresh)
	k.fails(err, "refresh_token_invalid")
	k.given(k.acme, "again", house, byEmail("kim@home.test"))
	if k.stands(in, k.acme) {
		t.Error("the session of before came back")
	}
	fresh := k.signInWith(k.acme, "kim@home.test", temporary)
	state, _, err := bus.LoadUnchecked[identity.User](t.Context(), k.Bus, kim)
	k.must(err)
	if !k.stands(fresh, k.acme) || state.Lapsed || fresh.Role != events.RoleSubscriber {
		t.Errorf("does not enter again: %+v", fresh)
	}
}
