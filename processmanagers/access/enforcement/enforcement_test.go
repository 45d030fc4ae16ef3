package enforcement_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/access/enforcement"
)

// One customer with one session.
var (
	start   = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	who     = id.Derive[id.Subscriber]("test", "subscriber")
	session = events.EnforcedSession{
		SessionID: id.Derive[id.Online]("test", "session"), OrgID: id.Derive[id.Organization]("test", "org"),
		SubscriberID: who, DeviceID: id.Derive[id.Device]("test", "router"),
	}
	announced = events.SessionChangeAnnounced{EnforcedSession: session}
	changed   = events.SessionChanged{EnforcedSession: session}
	settle    = "settle:" + session.SessionID.String()
)

// changing lists the events that can change what a session should have.
func changing() []events.Event {
	about := events.DunningSubject{SubscriberID: who}
	traffic := events.UsageSubject{SubscriberID: who}
	voucher := events.VoucherSubject{VoucherID: id.As[id.Voucher](who)}
	return []events.Event{
		events.SubscriptionActivated{SubscriberID: who}, events.SubscriptionExtended{SubscriberID: who},
		events.PeriodWithdrawn{SubscriberID: who}, events.PeriodCancelled{SubscriberID: who},
		events.SubscriptionPlanChanged{SubscriberID: who},
		events.SubscriptionPaused{SubscriberID: who}, events.SubscriptionResumed{SubscriberID: who},
		events.SubscriptionCompensated{SubscriberID: who}, events.CompensationTakenBack{SubscriberID: who},
		events.SubscriptionEnded{SubscriberID: who}, events.SubscriptionAddressesAssigned{SubscriberID: who},
		events.SubscriptionCredentialsSet{SubscriberID: who}, events.SubscriberBlocked{SubscriberID: who},
		events.SubscriberUnblocked{SubscriberID: who}, events.SubscriberForgotten{SubscriberID: who},
		events.DunningBegan{DunningSubject: about}, events.WalledGardenEntered{DunningSubject: about},
		events.ServiceSuspended{DunningSubject: about}, events.WriteOffProposed{DunningSubject: about},
		events.CapReached{UsageSubject: traffic}, events.CapReset{UsageSubject: traffic},
		events.CapPeriodMoved{UsageSubject: traffic},
		events.DunningEnded{DunningSubject: about}, events.VoucherMoved{VoucherSubject: voucher},
		events.VoucherVoided{VoucherSubject: voucher}, events.VoucherBeganEarlier{VoucherSubject: voucher},
	}
}

func TestEnforcement_EveryEventBelongsToItsSubscriber(t *testing.T) {
	t.Parallel()
	left := events.DeviceDecommissioned{DeviceID: id.As[id.Device](who)} // a router has a job of its own
	service := id.As[id.Service](who)                                    // and so has a service
	processtest.CheckKeys(t, enforcement.Process(), who.String(), append(changing(), announced, changed, left,
		events.ServiceRemoved{ServiceID: service}, events.ServiceTornDown{ServiceID: service})...)
}

func TestEnforcement_EachChangeLeadsToOneJobAndNothingIsRemembered(t *testing.T) {
	t.Parallel()
	for _, e := range changing() {
		processtest.For(t, enforcement.Process(), start).When(e).Then(processmanagers.Output{Jobs: []commands.Job{
			commands.EnforceAccess{SubscriberID: who, Position: processtest.Position},
		}})
	}
}

func TestEnforcement_AReminderBeforeThePaymentIsDueChangesNothing(t *testing.T) {
	t.Parallel()
	reminded := events.DunningBegan{DunningSubject: events.DunningSubject{SubscriberID: who}}
	reminded.At, reminded.DueAt = start, start.Add(time.Hour)
	back := reminded
	back.Before = events.DunningWalledGarden // a later due instant gives access back
	late := reminded
	late.At = late.DueAt // nothing is paid for any more
	for want, list := range map[string][]events.Event{"": {reminded}, who.String(): {back, late}} {
		for _, e := range list {
			if got := enforcement.Process().Key(events.Envelope{Type: e.EventType(), Event: e}); got != want {
				t.Errorf("%+v belongs to %q, not to %q", e, got, want)
			}
		}
	}
}

func TestEnforcement_ARouterThatIsDecommissionedIsLeft(t *testing.T) {
	t.Parallel()
	router, org := session.DeviceID, session.OrgID
	processtest.For(t, enforcement.Process(), start).When(events.DeviceDecommissioned{DeviceID: router, OrgID: org}).
		Then(processmanagers.Output{Jobs: []commands.Job{
			commands.LeaveRouter{DeviceID: router, OrgID: org, Position: processtest.Position},
		}})
}

func TestEnforcement_TheEndsOfAServicesSessionsAreTold(t *testing.T) {
	t.Parallel()
	told := commands.TellServiceEnded{ServiceID: id.New[id.Service](), DeviceID: session.DeviceID, At: start}
	removed := events.ServiceRemoved{ServiceID: told.ServiceID, DeviceID: told.DeviceID, At: start}
	anew := events.ServiceTornDown{ServiceID: told.ServiceID, DeviceID: told.DeviceID, At: start}
	for _, e := range []events.Event{removed, anew} {
		processtest.For(t, enforcement.Process(), start).When(e).
			Then(processmanagers.Output{Jobs: []commands.Job{told}})
	}
	removed.Abandoned = true // the router was not reached, so its sessions go on
	processtest.For(t, enforcement.Process(), start).When(removed).Then(processmanagers.Output{})
}

func TestEnforcement_AnAnnouncementWithoutAnOutcomeIsLookedAt(t *testing.T) {
	t.Parallel()
	timer := func(at time.Time) []processmanagers.Timer { return []processmanagers.Timer{{Name: settle, At: at}} }
	processtest.For(t, enforcement.Process(), start).When(announced).
		Then(processmanagers.Output{Timers: timer(start.Add(2 * time.Minute))})
	processtest.For(t, enforcement.Process(), start).Given(announced).WhenDue(settle, start).
		Then(processmanagers.Output{
			Jobs: []commands.Job{
				commands.EnforceAccess{SubscriberID: who, Sessions: []id.Online{session.SessionID}},
			},
			Timers: timer(start.Add(10 * time.Minute)),
		})
	processtest.For(t, enforcement.Process(), start).Given(announced).When(changed).
		Then(processmanagers.Output{Timers: timer(time.Time{})})
}
