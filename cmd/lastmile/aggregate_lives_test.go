package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// Limits of the lives below: stream periods of four events, the closing one included, and commands for more than two of
// them.
const (
	lifePeriod   = 4
	lifeCommands = 11
)

// life gives the n-th command to one aggregate, from 0. Each command changes something.
type life func(n int) commands.Command

// lives gives a life for one aggregate of each category whose streams are closed into stream periods.
func lives(org id.Organization) []life {
	return []life{
		deviceLife(org), serviceLife(org), planLife(org), runLife(org), accountLife(org), seriesLife(org),
		subscriptionLife(org), dunningLife(org), usageLife(org), differenceLife(org),
		enforcementLife(org), topologyLife(org), webhookLife(org), onuLife(org), provisionLife(org),
	}
}

// onuLife asks for the set-up of an ONU, which fails, again and again.
func onuLife(org id.Organization) life {
	place := events.CpeOnuPlace{OLT: "tower-1", Port: "0/1/3", Serial: "HWTC1A2B3C4D", VLAN: 100}
	onu, box := commands.CpeOnuID(org, place.Serial), id.New[id.CPE]()
	asked := func(n int) id.CPEOperation {
		return id.Derive[id.CPEOperation]("life", onu.String(), strconv.Itoa(n/2))
	}
	return func(n int) commands.Command {
		if n%2 == 1 {
			return commands.FailCpeOnu{
				OnuID: onu, OperationID: asked(n), Step: events.CpeOnuRegister, Code: "refused", Message: "No light.",
			}
		}
		return commands.SetUpCpeOnu{OnuID: onu, OrgID: org, CpeID: box, OperationID: asked(n), Place: place}
	}
}

// provisionLife writes one version of a script after the other.
func provisionLife(org id.Organization) life {
	return func(n int) commands.Command {
		return commands.WriteCpeProvision{
			ProvisionID: commands.CpeProvisionID(org, "leds"), OrgID: org, Name: "leds",
			StoredName: commands.StoredCpeProvision("acme", "leds"), Place: 1, Tag: "org:acme",
			Script: "// version " + strconv.Itoa(n),
		}
	}
}

// webhookLife registers an endpoint, then disables and enables it in turn.
func webhookLife(org id.Organization) life {
	hook := id.New[id.Webhook]()
	return func(n int) commands.Command {
		switch {
		case n == 0:
			settings := commands.WebhookSettings{
				URL: "https://hooks.example.com", Types: []string{events.OutboxInvoiceCreated},
			}
			return commands.RegisterWebhook{
				WebhookID: hook, OrgID: org, Place: 1, SecretRef: id.New[id.Secret](), Settings: settings,
			}
		case n%2 == 1:
			return commands.DisableWebhook{WebhookID: hook, Reason: events.WebhookOffAsked}
		}
		return commands.EnableWebhook{WebhookID: hook}
	}
}

// topologyLife puts one router behind another one and away from it in turn.
func topologyLife(org id.Organization) life {
	device, tower := id.New[id.Device](), id.New[id.Device]()
	return func(n int) commands.Command {
		if n%2 == 1 {
			return commands.ChooseUpstream{OrgID: org, DeviceID: device}
		}
		return commands.ChooseUpstream{OrgID: org, DeviceID: device, UpstreamID: tower}
	}
}

// dunningLife holds the dunning of a subscription and goes on in turn.
func dunningLife(org id.Organization) life {
	subject := events.DunningSubject{
		SubscriptionID: id.New[id.Subscription](), OrgID: org, SubscriberID: id.New[id.Subscriber](),
	}
	return func(n int) commands.Command {
		if n%2 == 1 {
			return commands.LiftHold{Subject: subject}
		}
		return commands.PlaceHold{
			Subject: subject, Until: clock.System().Now().AddDate(0, 0, 7), Reason: "in hospital",
		}
	}
}

// usageLife adds to the cap of a subscription again and again.
func usageLife(org id.Organization) life {
	subject := events.UsageSubject{
		SubscriptionID: id.New[id.Subscription](), OrgID: org, SubscriberID: id.New[id.Subscriber](),
	}
	today := calendar.On(clock.System().Now(), time.UTC)
	return func(int) commands.Command {
		return commands.AddTopUp{
			Subject: subject, TopUpID: id.New[id.TopUp](), Bytes: 1 << 30, Starts: today,
			Terms: commands.CapTerms{
				Cap: events.Cap{Bytes: 1 << 40, Period: "day", Then: events.CapStop}, Timezone: "UTC",
			},
		}
	}
}

// differenceLife is a bad cable that is seen and not seen in turn.
func differenceLife(org id.Organization) life {
	cable := events.AccessDifference{
		DifferenceID: id.New[id.Difference](), OrgID: org, DeviceID: id.New[id.Device](), Kind: events.PortBelowPlan,
	}
	return func(n int) commands.Command {
		if n%2 == 1 {
			return commands.CloseDifference{DifferenceID: cable.DifferenceID}
		}
		return commands.OpenDifference{
			Difference: cable, Expected: "a port of 1000000 kbit/s", Actual: personal.Of("100000 kbit/s"),
		}
	}
}

// enforcementLife announces the ends of sessions of one place, each of which is another one.
func enforcementLife(org id.Organization) life {
	place := events.EnforcedSession{
		SessionID: id.New[id.Online](), OrgID: org, SubscriberID: id.New[id.Subscriber](),
		SubscriptionID: id.New[id.Subscription](), DeviceID: id.New[id.Device](),
	}
	return func(int) commands.Command {
		return commands.AnnounceSessionChange{Session: place, Step: events.EnforcementStep{
			Action: events.EndOnline, Shown: id.New[id.Online](),
		}}
	}
}

// deviceLife makes a router unreachable and reachable in turn.
func deviceLife(org id.Organization) life {
	device := id.New[id.Device]()
	return func(n int) commands.Command {
		switch {
		case n == 0:
			return commands.RegisterDevice{
				DeviceID: device, OrgID: org, TunnelAddress: "10.99.0.9", TunnelUser: "nas-tower",
				Details: events.DeviceDetails{
					Name: "tower", IPAddress: "203.0.113.1", CoAPort: commands.DefaultCoAPort,
					APIPort: commands.DefaultAPIPort,
				},
				RadiusRef: id.New[id.Secret](), TunnelRef: id.New[id.Secret](),
			}
		case n%2 == 1:
			return commands.MarkDeviceUnreachable{DeviceID: device, Error: "no answer"}
		}
		return commands.MarkDeviceRecovered{DeviceID: device}
	}
}

// serviceLife asks for a reconcile of a service again and again.
func serviceLife(org id.Organization) life {
	service := id.New[id.Service]()
	return func(n int) commands.Command {
		if n > 0 {
			return commands.ReconcileService{ServiceID: service, RunID: id.New[id.Run]()}
		}
		return commands.RequestService{
			ServiceID: service, OrgID: org, DeviceID: id.New[id.Device](),
			Binding: events.ServiceBinding{Type: events.ServicePPPoE, ParentInterface: "ether4"},
			Addressing: events.ServiceAddressing{
				Subnet: "10.50.0.0/24", Gateway: "10.50.0.1", PoolStart: "10.50.0.2", PoolEnd: "10.50.0.254",
			},
		}
	}
}

// planLife closes an address plan for one router after the other.
func planLife(org id.Organization) life {
	return func(int) commands.Command {
		return commands.CloseAddressingDevice{OrgID: org, DeviceID: id.New[id.Device]()}
	}
}

// runLife plans the writes of a reconcile run again and again.
func runLife(org id.Organization) life {
	run := id.New[id.Run]()
	return func(n int) commands.Command {
		if n > 0 {
			return commands.PlanWrites{RunID: run, Steps: []events.RouterStep{
				{Path: "ip/pool", Operation: commands.OperationAdd, Name: fmt.Sprint("pool", n)},
			}}
		}
		return commands.StartReconcile{
			RunID: run, OrgID: org, DeviceID: id.New[id.Device](), Kind: events.ReconcileDevice,
		}
	}
}

// accountLife reserves and releases prompts on an account; no money comes.
func accountLife(org id.Organization) life {
	subscriber, payment := id.New[id.Subscriber](), id.New[id.Payment]()
	return func(n int) commands.Command {
		if n%2 == 1 {
			return commands.ReleasePrompt{SubscriberID: subscriber, PaymentID: payment}
		}
		payment = id.New[id.Payment]()
		return commands.ReservePrompt{
			SubscriberID: subscriber, OrgID: org, PaymentID: payment, Amount: money.Major(100, money.KES),
		}
	}
}

// seriesLife grants one number of a numbering series after the other.
func seriesLife(org id.Organization) life {
	return func(n int) commands.Command {
		return commands.GrantNumbers{
			SeriesID: commands.SeriesOf(org, commands.InvoiceDocument, "ACME"), OrgID: org,
			Document: commands.InvoiceDocument, Prefix: "ACME", After: int64(n),
			Documents: []commands.NumberedDocument{
				{DocumentID: id.New[id.Any](), SubscriberID: id.New[id.Subscriber]()},
			},
		}
	}
}

// subscriptionLife pauses and resumes a paid subscription.
func subscriptionLife(org id.Organization) life {
	subscription := id.New[id.Subscription]()
	return func(n int) commands.Command {
		switch {
		case n == 0:
			return commands.CreateSubscription{
				SubscriptionID: subscription, OrgID: org, SubscriberID: id.New[id.Subscriber](),
				PlanID: id.New[id.Plan](), PlanVersion: 1, Timezone: "Africa/Nairobi",
				Terms: events.PlanTerms{
					Name: "Home", Kind: "pppoe", Price: money.Major(1500, money.KES), Mode: events.Prepaid,
					Period: calendar.Month, Rates: events.Rates{Down: 10_000, Up: 5_000},
				},
				Username: personal.Of("amina"), PasswordRef: id.New[id.Secret](),
			}
		case n == 1:
			return commands.ExtendSubscription{
				SubscriptionID: subscription, InvoiceID: commands.PeriodInvoice(subscription, 1),
				PaidAt: clock.System().Now(),
			}
		case n%2 == 0:
			return commands.PauseSubscription{SubscriptionID: subscription, Reason: "away"}
		}
		return commands.ResumeSubscription{SubscriptionID: subscription, Reason: "back"}
	}
}
