package main

import (
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/audit"
	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// steps are the command that makes an aggregate for an organization, and a later one that the organization may send.
type steps = [2]commands.Command

// ownedSteps gives the steps of one aggregate of each category, by category.
func ownedSteps(org id.Organization) map[string]steps {
	all := map[string]steps{}
	for _, s := range slices.Concat(peopleSteps(org), moneySteps(org), []steps{dunningPolicySteps(org)}) {
		all[s[0].Target().Category] = s
	}
	for _, life := range lives(org) {
		first := life(0)
		all[first.Target().Category] = steps{first, life(1)}
	}
	return all
}

// peopleSteps are those of organizations, their users, keys and customers, refused writes, and questions.
func peopleSteps(org id.Organization) []steps {
	user, session, subscriber, plan := id.New[id.User](), id.New[id.Session](), id.New[id.Subscriber](),
		id.New[id.Plan]()
	key := id.New[id.APIKey]()
	refused := commands.NoteRefusal{
		RefusalID: id.New[id.Request](), OrgID: org, Method: "POST", Route: "/plans", Status: 409, Code: "x", Count: 1,
	}
	question := commands.LookUpAddress{
		LookupID: id.New[id.Lookup](), OrgID: org, Address: personal.Of("100.64.0.9"), HadAt: time.Unix(1, 0),
	}
	return []steps{
		{coretest.NewOrganization(org, "acme"), commands.RenameOrganization{OrgID: org, Name: "Other"}},
		{
			commands.RegisterUser{
				UserID: user, OrgID: org, Email: personal.Of("a@b.test"), FirstName: personal.Of("A"),
				Role: events.RoleSupport,
			},
			commands.RecordPasswordChange{UserID: user},
		},
		{
			commands.StartSession{SessionID: session, UserID: user, OrgID: org, Role: events.RoleSupport},
			commands.EndSession{SessionID: session, UserID: user, Reason: "logout"},
		},
		{
			commands.IssueAPIKey{
				KeyID: key, OrgID: org, SecretID: id.New[id.APIKeySecret](), Name: "Books", Role: events.RoleSupport,
				ByRole: events.RoleAdmin,
			},
			commands.RevokeAPIKey{KeyID: key},
		},
		{
			commands.RegisterSubscriber{
				SubscriberID: subscriber, OrgID: org, AccountNumber: "12345674", Currency: money.KES,
				Details: events.SubscriberDetails{FirstName: personal.Of("A"), Phone: personal.Of("+254712345678")},
			},
			commands.BlockSubscriber{SubscriberID: subscriber, Reason: "x"},
		},
		{
			commands.CreatePlan{
				PlanID: plan, OrgID: org, Code: "HOME", Terms: events.PlanTerms{
					Name: "Home", Kind: "pppoe", Price: money.Major(1500, money.KES), Mode: events.Prepaid,
					Period: calendar.Month, Rates: events.Rates{Down: 10_000, Up: 5_000},
				},
			},
			commands.ArchivePlan{PlanID: plan},
		},
		{refused, refused}, {question, question},
	}
}

// moneySteps are those of prompts, receipts and gateways.
func moneySteps(org id.Organization) []steps {
	payment, receipt := id.New[id.Payment](), id.New[id.Receipt]()
	return []steps{
		{
			commands.InitiatePayment{
				PaymentID: payment, OrgID: org, SubscriberID: id.New[id.Subscriber](),
				Amount: money.Major(100, money.KES), Phone: personal.Of("254712345678"), Environment: "sandbox",
				Shortcode: "600100", AccountReference: "12345674",
			},
			commands.BeginSubmission{PaymentID: payment},
		},
		{
			commands.RecordReceipt{
				ReceiptID: receipt, OrgID: org, Provider: commands.ProviderMobileMoney, ReceiptNumber: "SJK4X7Q2P1",
				Channel: commands.ChannelPaybill, Shortcode: "600100", Amount: money.Major(100, money.KES),
				PaidAt: clock.System().Now().Add(-time.Minute), PayerPhone: personal.Of("254712345678"),
				Sighting: commands.SightingConfirmation,
			},
			commands.HoldReceipt{ReceiptID: receipt, Reason: "no_match"},
		},
		{
			commands.ConfigureGateway{
				OrgID: org, Direct: true, Environment: "sandbox", Shortcode: "600200",
				CredentialsRef: id.New[id.Secret](),
			},
			commands.ConfigureGateway{OrgID: org, Environment: "sandbox"},
		},
	}
}

// dunningPolicySteps set the dunning rules of an organization, and then others.
func dunningPolicySteps(org id.Organization) steps {
	first := commands.SetDunningPolicies{OrgID: org, Default: access.DefaultDunningPolicy(money.KES)}
	second := first
	second.Default.GraceDays++
	return steps{first, second}
}

// checkOwned makes an aggregate for one organization, and then asks it for a change as another one: nothing may happen,
// and the answer is that of an id that does not exist.
func checkOwned[S any, C commands.Command, E events.Event](
	t *testing.T, k *coretest.Kit, def aggregates.Definition[S, C, E], org id.Organization, s steps,
) {
	t.Helper()
	if s[0] == nil {
		t.Errorf("%s: no commands to prove its owner with", def.Category)
		return
	}
	k.Run(t, coretest.Operator(org), s[0])
	target := s[0].Target().ID
	_, before, err := bus.LoadOwned[S](t.Context(), k.Bus, org, target)
	if err != nil {
		t.Errorf("%s: its own organization does not find it: %v", def.Category, err)
	}
	stranger := id.New[id.Organization]()
	_, err = k.Bus.Execute(t.Context(), s[1], coretest.Operator(stranger))
	missing := failure.CodeOf(def.Missing())
	if code := failure.CodeOf(err); code != missing && code != failure.CodeOf(commands.ErrNotFound()) {
		t.Errorf("%s: another organization's command is answered %v, want %s", def.Category, err, missing)
	}
	if _, _, err := bus.LoadOwned[S](t.Context(), k.Bus, stranger, target); failure.CodeOf(err) != missing {
		t.Errorf("%s: another organization finds it: %v", def.Category, err)
	}
	_, after, err := bus.LoadOwned[S](t.Context(), k.Bus, org, target)
	if err != nil || after != before {
		t.Errorf("%s: another organization's command changed it: revision %d, then %d, %v", def.Category, before, after,
			err)
	}
	if _, err := k.Bus.Execute(t.Context(), s[1], coretest.Operator(org)); err != nil {
		t.Errorf("%s: the same command of its own organization is refused: %v", def.Category, err)
	}
}

func TestOwners_AnotherOrganizationsCommandFindsNothing(t *testing.T) {
	t.Parallel()
	k, org := coretest.New(t, clock.System()), id.New[id.Organization]()
	registerAggregates(k.Bus)
	s := ownedSteps(org)
	checkOwned(t, k, identity.Organizations(), org, s[commands.OrganizationCategory])
	checkOwned(t, k, identity.Users(), org, s[commands.UserCategory])
	checkOwned(t, k, identity.Sessions(), org, s[commands.SessionCategory])
	checkOwned(t, k, identity.APIKeys(), org, s[commands.APIKeyCategory])
	checkOwned(t, k, subscribers.Subscribers(), org, s[commands.SubscriberCategory])
	checkOwned(t, k, subscribers.Plans(), org, s[commands.PlanCategory])
	checkOwned(t, k, subscribers.Subscriptions(), org, s[commands.SubscriptionCategory])
	checkOwned(t, k, billing.Accounts(), org, s[commands.AccountCategory])
	checkOwned(t, k, billing.NumberSeries(), org, s[commands.NumberingCategory])
	checkOwned(t, k, payments.Payments(), org, s[commands.PaymentCategory])
	checkOwned(t, k, payments.Receipts(), org, s[commands.ReceiptCategory])
	checkOwned(t, k, payments.Gateways(), org, s[commands.GatewayCategory])
	checkOwned(t, k, network.Devices(), org, s[commands.DeviceCategory])
	checkOwned(t, k, network.Services(), org, s[commands.ServiceCategory])
	checkOwned(t, k, network.AddressPlans(), org, s[commands.AddressingCategory])
	checkOwned(t, k, network.Runs(), org, s[commands.ReconcileCategory])
	checkOwned(t, k, access.DunningPolicies(), org, s[commands.DunningPolicyCategory])
	checkOwned(t, k, access.Dunnings(), org, s[commands.DunningCategory])
	checkOwned(t, k, audit.Refusals(), org, s[commands.RefusalCategory])
	checkOwned(t, k, audit.Lookups(), org, s[commands.LookupCategory])
}
