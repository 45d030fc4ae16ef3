package telemetry_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// try is a refused sign-in of a username at the kit's router.
func (k *kit) try(username, code string, at time.Time) telemetry.Try {
	return telemetry.Try{
		OrgID: k.org, DeviceID: k.device, Code: code, Username: username, Calling: "AA:BB:CC:00:11:22", Port: "ether2",
		FirstAt: at, At: at, Count: 1,
	}
}

// saveTries writes refused sign-ins and gives those at the kit's router.
func (k *kit) saveTries(t *testing.T, list ...telemetry.Try) []telemetry.Try {
	t.Helper()
	if err := k.SaveTries(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	got, err := k.TriesAt(t.Context(), k.org, k.device, noon.Add(48*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestTries_TellWhoWasRefusedFromWhere(t *testing.T) {
	t.Parallel()
	k := open(t)
	known := k.try("amina", "wrong_password", noon.Add(time.Minute))
	known.SubscriberID, known.SubscriptionID = k.subscriber, k.subscription
	hostile := k.try("x\x00\xff", "unknown_user", noon)
	again := k.try("nobody", "unknown_user", noon.Add(24*time.Hour))
	again.Port, again.Count = "ether3", 4
	got := k.saveTries(t, known, hostile, k.try("nobody", "unknown_user", noon), again)
	if len(got) != 3 || got[0].Username != "nobody" || got[0].Count != 5 || got[0].Port != "ether3" ||
		!got[0].FirstAt.Equal(noon) || got[1].SubscriberID != k.subscriber || got[1].Calling != known.Calling {
		t.Errorf("%+v", got)
	}
	theirs, err := k.TriesAt(t.Context(), id.New[id.Organization](), k.device, noon.Add(48*time.Hour))
	if err != nil || len(theirs) != 0 {
		t.Errorf("another organization is shown %+v, %v", theirs, err)
	}
}

// TestTries_OfOneRouterAreBounded: what a router invents has no room without end, and what is known goes on.
func TestTries_OfOneRouterAreBounded(t *testing.T) {
	t.Parallel()
	k := open(t)
	for group := range 6 {
		var list []telemetry.Try
		for n := range 100 {
			list = append(list, k.try(fmt.Sprint("invented", group, "-", n), "unknown_user", noon))
		}
		k.saveTries(t, append(list, k.try("amina", "unknown_user", noon.Add(time.Hour)))...)
	}
	var rows, count int64
	sql := "select count(*), sum(count) filter (where username = 'amina') from " + k.schema() + ".tries"
	if err := k.db.Owner.QueryRow(t.Context(), sql).Scan(&rows, &count); err != nil {
		t.Fatal(err)
	}
	if rows > 303 || count != 6 {
		t.Errorf("%d rows, one of them counts %d", rows, count)
	}
}

// TestTries_OfAForgottenPersonGo, also those in which the username was that of nobody yet.
func TestTries_OfAForgottenPersonGo(t *testing.T) {
	t.Parallel()
	k := open(t)
	k.commit(t, k.at(telemetry.Start, 0, 0, 0))
	known := k.try("other name", "unpaid", noon)
	known.SubscriberID = k.subscriber
	k.saveTries(t, known, k.try("amina", "unknown_user", noon), k.try("joseph", "unknown_user", noon))
	if err := k.Forget(t.Context(), k.org, k.subscriber); err != nil {
		t.Fatal(err)
	}
	if got := k.saveTries(t); len(got) != 1 || got[0].Username != "joseph" {
		t.Errorf("%+v", got)
	}
	keep := telemetry.Retention{Sessions: 24 * time.Hour}
	if err := k.Purge(t.Context(), noon.Add(72*time.Hour), keep); err != nil {
		t.Fatal(err)
	}
	if got := k.saveTries(t); len(got) != 0 {
		t.Errorf("after their time %+v", got)
	}
}
