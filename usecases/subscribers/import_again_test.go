package subscriberscases_test

import (
	"context"
	"errors"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

// imports are the cases of imports at an organization without plans, which has some customers.
func (k *kit) imports(here *[]subscribersviews.PhoneRow) subscriberscases.Imports {
	return subscriberscases.Imports{
		Bus: k.Bus, Files: k.Vault.Files, Key: k.Vault.FileKey, Clock: k.clock,
		Plans: func(context.Context, id.Organization) ([]subscribersviews.PlanRow, error) { return nil, nil },
		Taken: func(context.Context, id.Organization, subscribersviews.TakenValues,
		) (map[string]subscribersviews.TakenRow, error) {
			return nil, nil
		},
		ByPhones: func(context.Context, id.Organization, []string) ([]subscribersviews.PhoneRow, error) {
			return *here, nil
		},
		Served: func(context.Context, id.Organization, []id.Subscriber) (map[id.Subscriber]bool, error) {
			return nil, nil
		},
	}
}

// TestImport_ThatBeginsAgainCountsAgain: by then more of the file can be taken in, so that its credit is another one.
// Above the limit it waits for a colleague, and begins with the rows that were looked at.
func TestImport_ThatBeginsAgainCountsAgain(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	bus.Register(k.Bus, subscribers.Imports())
	bus.Register(k.Bus, billing.Approvals())
	bus.Register(k.Bus, billing.Allowances())
	bus.Register(k.Bus, billing.BatchUndos())
	bus.Register(k.Bus, identity.Users())
	limit := new(money.Major(500, money.KES))
	k.Run(t, coretest.Operator(k.acme), commands.SetApprovalLimit{OrgID: k.acme, Limit: limit})
	here := []subscribersviews.PhoneRow{
		{SubscriberID: id.New[id.Subscriber](), Phone: "+254711000951", FirstName: "Amina"},
	}
	u := k.imports(&here)
	file := subscriberscases.ImportInput{
		Body: []byte("firstName,phone,openingBalance\nAmina,0711000951,-900\nBaraka,0711000952,400\n"),
	}
	of, _, err := u.Ask(t.Context(), coretest.Ask(k.acme), file)
	if err != nil {
		t.Fatal(err)
	}
	if state := load[subscribers.Import](t, k, of); state.Rows != 2 || state.Finished {
		t.Fatalf("begun: %+v", state)
	}
	k.Run(t, coretest.Operator(k.acme), commands.LoseImportRows{ImportID: of})
	here = nil // was forgotten meanwhile
	asked := coretest.Ask(k.acme)
	var waits *usecases.WaitsForApproval
	if _, _, err = u.Ask(t.Context(), asked, file); !errors.As(err, &waits) {
		t.Fatalf("begun again with a credit above the limit: %v", err)
	}
	if state := load[subscribers.Import](t, k, of); state.Round != 0 {
		t.Errorf("it goes on: %+v", state)
	}
	approval := load[billing.Approval](t, k, waits.ApprovalID)
	if approval.Subject.Amount != money.Major(900, money.KES) {
		t.Errorf("waits: %+v", approval.Subject)
	}
	asked.Approval = waits.ApprovalID
	if err := u.Granted(t.Context(), asked, usecases.Granted{What: approval.Act}); err == nil {
		t.Error("it begins before a colleague has agreed")
	}
	k.Run(t, coretest.Operator(k.acme), commands.SetApprovalLimit{OrgID: k.acme})
	k.clock.Advance(commands.ApprovalKept)
	if _, _, err = u.Ask(t.Context(), coretest.Ask(k.acme), file); err != nil {
		t.Fatal(err)
	}
	if state := load[subscribers.Import](t, k, of); state.Round != 1 || state.Rows != 2 {
		t.Errorf("begun again without a limit: %+v", state)
	}
}
