package paymentsjobs_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs/payments"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// paid makes the confirmation of a paybill payment of as many shillings.
func paid(number, shortcode, reference string, shillings int) []byte {
	return []byte(`{"TransactionType":"Pay Bill","TransID":"` + number +
		`","TransTime":"20260302120000","TransAmount":"` +
		strconv.Itoa(shillings) + `.00","BusinessShortCode":"` + shortcode + `","BillRefNumber":"` + reference +
		`","InvoiceNumber":"INV-9","OrgAccountBalance":"49197.00","ThirdPartyTransID":"t-1","MSISDN":"254712345678"}`)
}

// confirmed handles a verified confirmation as it comes at a bare address, and waits until it is shown.
func (k *kit) confirmed(t *testing.T, body []byte) {
	t.Helper()
	k.stored(t, vault.Callback{Kind: paymentsjobs.CallbackConfirmation, Verified: true, Body: body})
	_, _ = k.workers.HandleDue(t.Context(), nil)
	k.WaitForAll(t, k.views, paymentsviews.ReceiptsName)
}

// direct gives an organization a shortcode of its own that the provider has accepted.
func (k *kit) direct(t *testing.T, org id.Organization, environment, shortcode string) {
	t.Helper()
	keys := id.New[id.Secret]()
	k.execute(t, commands.ConfigureGateway{
		OrgID: org, Direct: true, Environment: environment, Shortcode: shortcode, CredentialsRef: keys,
	})
	k.execute(t, commands.RegisterGateway{
		OrgID: org, Environment: environment, Shortcode: shortcode, CredentialsRef: keys,
	})
}

// receipt is a receipt as the log has it; the zero state when there is none.
func (k *kit) receipt(t *testing.T, r id.Receipt) payments.Receipt {
	t.Helper()
	s, _, err := bus.LoadUnchecked[payments.Receipt](t.Context(), k.Bus, r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// receipts counts the receipts that the log has, of any number.
func (k *kit) receipts(t *testing.T) (n int) {
	t.Helper()
	rows, err := paymentsviews.ReceiptsQuery{Views: k.views}.Unplaced(t.Context(), k.clock.Now().Add(time.Hour),
		id.Receipt{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	return len(rows)
}

func TestCallback_OfAPromptThatNobodySentIsNeverMoney(t *testing.T) {
	t.Parallel()
	for name, verified := range map[string]bool{"from an allowed address": true, "from anywhere": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			k.stored(t, vault.Callback{
				Kind: paymentsjobs.CallbackPrompt, Verified: verified, Body: success("ws_CO_foreign", "SJK4X7Q2P2"),
			})
			received, tries := k.clock.Now(), 0
			for k.clock.Now().Sub(received) < 49*time.Hour {
				n, _ := k.workers.HandleDue(t.Context(), nil)
				tries += n
				k.clock.Advance(5 * time.Minute)
			}
			if n := k.receipts(t); n != 0 {
				t.Fatalf("%d receipts of a prompt that is not ours", n)
			}
			if tries < 3 || tries > 40 {
				t.Errorf("tried %d times", tries)
			}
			waiting, alarms, err := k.Vault.Inbox.Count(t.Context(), paymentsjobs.CauseUnknownPrompt)
			want := int64(0)
			if verified {
				want = 1
			}
			if err != nil || waiting != 0 || alarms != want {
				t.Errorf("%d wait, %d alarms, %v", waiting, alarms, err)
			}
		})
	}
}

func TestCallback_OfAnUnknownPromptWaitsForTwoDaysWithoutAnAlarm(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	p, _ := k.initiate(t, "PLATE")
	k.stored(t, vault.Callback{
		Kind: paymentsjobs.CallbackPrompt, Verified: true, Body: success("ws_CO_late", "SJK4X7Q2P8"),
	})
	for range 47 * 12 {
		_, _ = k.workers.HandleDue(t.Context(), nil)
		k.clock.Advance(5 * time.Minute)
	}
	waiting, alarms, err := k.Vault.Inbox.Count(t.Context(), paymentsjobs.CauseUnknownPrompt)
	if err != nil || waiting != 0 || alarms != 0 {
		t.Errorf("%d wait, %d alarms, %v", waiting, alarms, err)
	}
	k.execute(t, commands.AcceptPrompt{PaymentID: p, CheckoutRequestID: "ws_CO_late"})
	k.clock.Advance(time.Hour)
	_, _ = k.workers.HandleDue(t.Context(), nil)
	r := k.receipt(t, commands.ReceiptID(commands.EnvironmentSandbox, "SJK4X7Q2P8"))
	if r.Payment != p || r.Amount != money.Major(1500, money.KES) {
		t.Errorf("once the prompt is known: %+v", r)
	}
}

func TestReceipt_OfTheSandboxIsNotThatOfProduction(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	other := id.New[id.Organization]()
	k.direct(t, other, commands.EnvironmentProduction, "600888")
	k.confirmed(t, paid("SJK4X7Q2P1", shortcode, "play", 5))
	k.arrived(t, k.token(t, other, commands.EnvironmentProduction, "600888"),
		paid("SJK4X7Q2P1", "600888", "real", 1500))
	play := k.receipt(t, commands.ReceiptID(commands.EnvironmentSandbox, "SJK4X7Q2P1"))
	money := k.receipt(t, commands.ReceiptID(commands.EnvironmentProduction, "SJK4X7Q2P1"))
	if play.Disputed || money.Disputed || !play.Org.IsZero() || money.Org != other {
		t.Errorf("play money %+v, real money %+v", play, money)
	}
}

func TestReceipt_RecordedBeforeIdsHadTheEnvironmentIsFound(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	legacy := commands.LegacyReceiptID("SJK4X7Q2P1")
	k.execute(t, commands.RecordReceipt{
		ReceiptID: legacy, Provider: commands.ProviderMobileMoney, ReceiptNumber: "SJK4X7Q2P1",
		Channel: commands.ChannelPaybill, Shortcode: shortcode, Amount: money.Major(1500, money.KES),
		PaidAt: k.clock.Now(), BillRef: personal.Of("x"), Sighting: commands.SightingConfirmation,
	})
	k.confirmed(t, paid("SJK4X7Q2P1", shortcode, "x", 1500))
	want := []string{"payments.ReceiptRecorded.v2"}
	if diff := cmp.Diff(want, k.history(t, commands.ReceiptCategory, id.Any(legacy))); diff != "" {
		t.Error(diff)
	}
	if fresh := k.receipt(t, commands.ReceiptID(commands.EnvironmentSandbox, "SJK4X7Q2P1")); !fresh.ID.IsZero() {
		t.Errorf("the same money has two receipts: %+v", fresh)
	}
	k.direct(t, k.org, commands.EnvironmentProduction, "600888")
	k.arrived(t, k.token(t, k.org, commands.EnvironmentProduction, "600888"), paid("SJK4X7Q2P1", "600888", "x", 1500))
	if real := k.receipt(t, commands.ReceiptID(commands.EnvironmentProduction, "SJK4X7Q2P1")); real.Org != k.org {
		t.Errorf("real money is taken for that of the sandbox: %+v", real)
	}
}

func TestContradiction_EachOrganizationSeesItsOwnMoney(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	other := id.New[id.Organization]()
	k.direct(t, k.org, commands.EnvironmentSandbox, "600777")
	k.direct(t, other, commands.EnvironmentSandbox, "600888")
	k.confirmed(t, paid("SJK4X7Q2P1", "600777", "x", 1500))
	first := commands.ReceiptID(commands.EnvironmentSandbox, "SJK4X7Q2P1")
	for range 3 {
		k.confirmed(t, paid("SJK4X7Q2P1", "600888", "y", 1500))
	}
	want := []string{"payments.ReceiptRecorded.v2", "payments.ReceiptDisputed.v2", "payments.ReceiptHeld.v1"}
	if diff := cmp.Diff(want, k.history(t, commands.ReceiptCategory, id.Any(first))); diff != "" {
		t.Error(diff)
	}
	own := commands.ContradictionID(first, other)
	want = []string{"payments.ReceiptRecorded.v2", "payments.ReceiptHeld.v1"}
	if diff := cmp.Diff(want, k.history(t, commands.ReceiptCategory, id.Any(own))); diff != "" {
		t.Error(diff)
	}
	q := paymentsviews.ReceiptsQuery{Views: k.views}
	for org, r := range map[id.Organization]id.Receipt{k.org: first, other: own} {
		rows, err := q.List(t.Context(), org, paymentsviews.ReceiptFilter{State: "suspense"},
			paymentsviews.ReceiptKey{}, 9)
		if err != nil || len(rows) != 1 || rows[0].ID != r || !rows[0].Disputed {
			t.Errorf("%v sees %+v, %v", org, rows, err)
		}
	}
	// A search that some message starts decides nothing about it.
	if err := k.workers.FindPayer(t.Context(), commands.FindPayer{ReceiptID: own}, newCause()); err != nil {
		t.Error(err)
	}
	k.execute(t, commands.AttributeReceipt{ReceiptID: own, OrgID: other, SubscriberID: id.New[id.Subscriber]()})
	k.confirmed(t, paid("SJK4X7Q2P1", "600888", "y", 1500))
	if r := k.receipt(t, own); r.Disputed || r.Standing != payments.StandingMatched {
		t.Errorf("a repeated message disputes what a person has decided: %+v", r)
	}
}

func TestReceipt_KeepsWhatThePaybillsCallbackTold(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.confirmed(t, paid("SJK4X7Q2P1", shortcode, "x", 1500))
	r := commands.ReceiptID(commands.EnvironmentSandbox, "SJK4X7Q2P1")
	list, err := k.Store.Read(t.Context(), commands.ReceiptCategory+"-"+r.String(), 0)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	e, _ := list[0].Event.(events.ReceiptRecorded)
	if e.InvoiceNumber.Reveal() != "INV-9" || e.ThirdPartyTransID != "t-1" || e.OrgAccountBalance != "49197.00" ||
		e.Environment != commands.EnvironmentSandbox {
		t.Errorf("kept %+v", e)
	}
	row, err := paymentsviews.ReceiptsQuery{Views: k.views}.Any(t.Context(), r)
	if err != nil || row.InvoiceNumber == nil || row.Reference().InvoiceNumber != "INV-9" ||
		row.ThirdPartyTransID != "t-1" {
		t.Errorf("shown %+v, %v", row, err)
	}
}

func TestPaybill_OfAFormerOwnersTokenIsNobodysMoney(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.direct(t, k.org, commands.EnvironmentSandbox, "600777")
	k.stored(t, vault.Callback{
		Kind: paymentsjobs.CallbackConfirmation, Verified: true, Ref: uuid.New(), Shortcode: "600777",
		Body: paid("SJK4X7Q2P1", "600777", "x", 1500),
	})
	_, _ = k.workers.HandleDue(t.Context(), nil)
	r := k.receipt(t, commands.ReceiptID(commands.EnvironmentSandbox, "SJK4X7Q2P1"))
	if r.Standing == payments.StandingNone || !r.Org.IsZero() {
		t.Errorf("receipt %+v", r)
	}
}

func TestSubmitPrompt_IsNotSentHoursLate(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	silent(t, k)
	p, position := k.initiate(t, "PLATE")
	k.clock.Advance(20 * time.Hour)
	submit := commands.SubmitPrompt{PaymentID: p, Position: position}
	for range 2 {
		if err := k.workers.SubmitPrompt(t.Context(), submit, newCause()); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(k.sim.Prompts()); n != 0 {
		t.Errorf("%d phones were asked", n)
	}
	if list := k.history(t, commands.PaymentCategory, id.Any(p)); !slices.Contains(list, "payments.PaymentFailed.v1") {
		t.Errorf("history %v", list)
	}
	k.WaitForAll(t, k.views, paymentsviews.PaymentsName)
	row, err := paymentsviews.PaymentsQuery{Views: k.views}.Get(t.Context(), k.org, p)
	if err != nil || row.Status() != "FAILED" || row.Reason() != "not_sent" {
		t.Errorf("payment %+v, %v", row, err)
	}
}

func TestCallback_ThatCannotBecomeMoneyIsAnAlarm(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for _, body := range [][]byte{
		[]byte(`{"TransID":"SJK4X7Q2P1"}`), paid("SJK4X7Q2P2", shortcode, "x", 90_000_000_000_000),
	} {
		k.confirmed(t, body)
	}
	k.stored(t, vault.Callback{Kind: paymentsjobs.CallbackConfirmation, Body: []byte(`{}`)}) // not from the provider
	_, _ = k.workers.HandleDue(t.Context(), nil)
	waiting, alarms, err := k.Vault.Inbox.Count(t.Context(), paymentsjobs.CauseUnknownPrompt)
	if err != nil || waiting != 0 || alarms != 2 {
		t.Errorf("%d wait, %d alarms, %v", waiting, alarms, err)
	}
}

// The attempt asked for another amount, and its own report came after the money was matched by what was typed.
func TestFindPayer_MoneyThatWasMatchedFirstIsThatOfItsPromptToo(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]bool{"on its own account": true, "on another account": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			attempt, _ := k.initiate(t, "PONE")
			k.confirmed(t, paid("SJK4X7Q2P1", shortcode, "10000008", 1600))
			r := commands.ReceiptID(commands.EnvironmentSandbox, "SJK4X7Q2P1")
			account, want := k.sub, "payments.PaymentSucceeded.v1"
			if !own {
				account, want = id.New[id.Subscriber](), "payments.PaymentPaidElsewhere.v1"
			}
			k.execute(t, commands.MatchReceipt{
				ReceiptID: r, OrgID: k.org, SubscriberID: account, By: "account_number",
			})
			done := k.execute(t, commands.RecordReceipt{
				ReceiptID: r, OrgID: k.org, Provider: commands.ProviderMobileMoney,
				Environment: commands.EnvironmentSandbox, ReceiptNumber: "SJK4X7Q2P1", Channel: commands.ChannelPrompt,
				Shortcode: shortcode, Amount: money.Major(1600, money.KES), PaidAt: k.clock.Now(), PaymentID: attempt,
				Sighting: commands.SightingCallback,
			})
			cause := newCause()
			for range 2 {
				err := k.workers.FindPayer(t.Context(), commands.FindPayer{ReceiptID: r, Position: done.Position},
					cause)
				if err != nil {
					t.Fatal(err)
				}
			}
			got := k.history(t, commands.PaymentCategory, id.Any(attempt))
			if got[len(got)-1] != want || len(got) != 2 {
				t.Errorf("got %v, want %s last", got, want)
			}
			if left := k.receipt(t, r); left.Standing != payments.StandingMatched || left.Subscriber != account {
				t.Errorf("the money is %+v", left)
			}
		})
	}
}
