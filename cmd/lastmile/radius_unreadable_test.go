package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/radius/directory"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// TestRadius_AnUnreadableEventSilencesItsOrganizationAlone: an event of acme cannot be read when the program starts.
// Customers of beta sign in; those of acme get no answer, and /readyz says so.
func TestRadius_AnUnreadableEventSilencesItsOrganizationAlone(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	ours := k.connect(k.admin, "secret-of-acme", "amina")
	beta := k.organization("beta", "admin@beta.test")
	theirs := k.connect(beta, "secret-of-beta", "brian")
	k.rejected(theirs, theirs.password, directory.CodeUnpaid)
	k.must(beta, "POST", "/payments/cash", map[string]any{
		"subscriberId": theirs.subscriber, "amount": 1000, "reference": "till 1",
	})
	k.online(theirs)
	k.must(k.admin, "POST", "/subscribers/"+ours.subscriber+"/block", map[string]any{"reason": "fraud"})
	k.app.Stop()
	done, err := k.db.Owner.Exec(t.Context(), storetest.SetData(k.db.Namespace.Schema("eventstore"), `'{'`,
		`type like '%SubscriberBlocked%'`))
	if err != nil || done.RowsAffected() != 1 {
		t.Fatal(err, done)
	}
	k.start()
	k.online(theirs)
	nas := k.towerAgain("secret-of-acme")
	k.acmeIsLeft(nas, ours)
}

// towerAgain starts another router of an organization that is registered already, whose CoA port does not matter.
func (k *kit) towerAgain(secret string) *handset.NAS {
	k.t.Helper()
	nas, err := handset.New(handset.Config{
		Server: k.app.radius.server.AccessAddr(), Accounting: k.app.radius.server.AccountingAddr(),
		Secret: []byte(secret), Clock: k.app.clock, Seed: 2,
	})
	if err == nil {
		err = nas.Start(k.t.Context())
	}
	if err != nil {
		k.t.Fatal(err)
	}
	atEnd(k.t, nas.Stop)
	return nas
}

// acmeIsLeft waits until sign-ins of acme get no answer, and wants /readyz to say that somebody is left.
func (k *kit) acmeIsLeft(nas *handset.NAS, who connection) {
	k.t.Helper()
	k.eventually("sign-ins of acme to get no answer", func(ctx context.Context) (bool, error) {
		if len(k.app.radius.shows.Left()) == 0 {
			return false, fmt.Errorf("all organizations are answered; fault %q", k.app.radius.shows.Fault())
		}
		got, err := nas.SignIn(ctx, handset.Customer{Name: who.username, Password: who.password})
		return err == nil && got.Outcome == handset.Unanswered, fmt.Errorf("%+v, %w", got, err)
	})
	if got := k.errorOf(k.client(""), "GET", "/readyz", nil); got.Status != 503 ||
		!strings.Contains(got.Body, `"`+directory.Name+`":{"status":"down"`) {
		k.t.Errorf("readiness: %+v", got)
	}
}
