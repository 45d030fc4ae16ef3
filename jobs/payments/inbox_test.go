package paymentsjobs_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs/payments"
)

func TestInbox_ACallbackThatPanicsWaitsAloneAndTheOthersAreHandled(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	broken := paymentsjobs.New(paymentsjobs.Config{ // without a bus, a command panics
		Views: k.views, Inbox: k.Vault.Inbox, Access: k.access, Clock: k.clock, Logger: storetest.Quiet(),
	})
	k.stored(t, vault.Callback{
		Kind: paymentsjobs.CallbackConfirmation, Shortcode: shortcode, Verified: true,
		Body: []byte(`{"TransactionType":"Pay Bill","TransID":"SJK4X7Q2P9","TransTime":"20260302120000",
			"TransAmount":"100.00","BusinessShortCode":"` + shortcode + `",
			"BillRefNumber":"x","MSISDN":"254712345678"}`),
	})
	k.stored(t, vault.Callback{Kind: paymentsjobs.CallbackValidation, Body: []byte("?")})
	if n, _ := broken.HandleDue(t.Context(), nil); n != 2 {
		t.Fatalf("%d handled", n)
	}
	list, err := k.Vault.Inbox.Pending(t.Context(), 10)
	if err != nil || len(list) != 1 || list[0].LastFailure != "panicked" {
		t.Fatalf("pending %+v, %v", list, err)
	}
	k.clock.Advance(5 * time.Minute)
	if n, _ := broken.HandleDue(t.Context(), nil); n != 0 {
		t.Errorf("%d handled again at once", n)
	}
	k.clock.Advance(time.Hour)
	if n, _ := k.workers.HandleDue(t.Context(), nil); n != 1 { // a repaired version
		t.Errorf("%d handled an hour later", n)
	}
	if list, err := k.Vault.Inbox.Pending(t.Context(), 10); err != nil || len(list) != 0 {
		t.Errorf("pending %+v, %v", list, err)
	}
}

// TestInbox_TheResultOfAHandledCallbackIsStoredAsSoonAsTheDatabaseTakesIt: without a repeat, what the database refused
// in the moment of its restart waits for the end of the lease, a minute later.
func TestInbox_TheResultOfAHandledCallbackIsStoredAsSoonAsTheDatabaseTakesIt(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	schema := k.DB.Namespace.Schema("vault")
	if _, err := k.DB.Owner.Exec(t.Context(), `create sequence `+schema+`.refusals;
		create function `+schema+`.refuse() returns trigger language plpgsql as $$ begin
			if nextval('`+schema+`.refusals') <= 3 then raise exception 'the database restarts'; end if;
			return new;
		end $$;
		create trigger refuse before update on `+schema+`.callbacks
			for each row when (new.lease is null) execute function `+schema+`.refuse()`); err != nil {
		t.Fatal(err)
	}
	k.stored(t, vault.Callback{Kind: paymentsjobs.CallbackValidation, Body: []byte("?")})
	if n, err := k.workers.HandleDue(t.Context(), nil); n != 1 || err != nil {
		t.Fatalf("%d handled, %v", n, err)
	}
	if list, err := k.Vault.Inbox.Pending(t.Context(), 10); err != nil || len(list) != 0 {
		t.Errorf("pending %+v, %v", list, err)
	}
}

// TestInbox_APromptWhoseAttemptIsNotShownYetIsOwed: the token of the address proves that the attempt is ours, so cuts
// wait for the money. A prompt that nobody knows may be invented.
func TestInbox_APromptWhoseAttemptIsNotShownYetIsOwed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ref  uuid.UUID
		owed bool
	}{"at a secret address": {uuid.New(), true}, "at a bare address": {uuid.Nil, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			k.stored(t, vault.Callback{
				Kind: paymentsjobs.CallbackPrompt, Ref: c.ref, Verified: true, Body: success("ws_CO_1", "SJK4X7Q2P9"),
			})
			if n, err := k.workers.HandleDue(t.Context(), nil); n != 1 || err != nil {
				t.Fatal(n, err)
			}
			if owed, err := paymentsjobs.Owed(t.Context(), k.Vault.Inbox, time.Time{}); err != nil || owed != c.owed {
				t.Errorf("owed %v, %v; want %v", owed, err, c.owed)
			}
		})
	}
}

// TestInbox_AMessageThatWasGivenUpIsMoneyAfterAnotherTry: a program that did not know its form gave it up.
func TestInbox_AMessageThatWasGivenUpIsMoneyAfterAnotherTry(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.stored(t, vault.Callback{
		Kind: paymentsjobs.CallbackConfirmation, Shortcode: shortcode, Verified: true,
		Body: paid("SJK4X7Q2P1", shortcode, "10000008", 1500),
	})
	inbox := k.Vault.Inbox
	taken, err := inbox.Take(t.Context(), 1)
	if err != nil || len(taken) != 1 {
		t.Fatalf("%d taken, %v", len(taken), err)
	}
	if err := inbox.GiveUp(t.Context(), taken[0], "unreadable"); err != nil {
		t.Fatal(err)
	}
	list, err := inbox.Failed(t.Context(), true, uuid.Nil, 10)
	if err != nil || len(list) != 1 || list[0].ID != taken[0].ID || list[0].Cause != "unreadable" {
		t.Fatalf("failed %+v, %v", list, err)
	}
	if others, err := inbox.Failed(t.Context(), false, uuid.Nil, 10); err != nil || len(others) != 0 {
		t.Errorf("without a proof: %+v, %v", others, err)
	}
	if after, err := inbox.Failed(t.Context(), true, taken[0].ID, 10); err != nil || len(after) != 0 {
		t.Errorf("behind it: %+v, %v", after, err)
	}
	if err := inbox.Retry(t.Context(), taken[0].ID); err != nil {
		t.Fatal(err)
	}
	if n, err := k.workers.HandleDue(t.Context(), nil); n != 1 || err != nil {
		t.Fatalf("%d handled, %v", n, err)
	}
	if got := k.history(t, commands.ReceiptCategory, id.Any(commands.ReceiptID(here, "SJK4X7Q2P1"))); len(got) != 1 {
		t.Errorf("the money is recorded as %v", got)
	}
	if err := inbox.Retry(t.Context(), taken[0].ID); failure.CodeOf(err) != "callback_not_found" {
		t.Errorf("a message that was handled: %v", err)
	}
}
