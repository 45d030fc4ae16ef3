package directory_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

func TestActs_OfOneOrganizationPushOutNoOthers(t *testing.T) {
	t.Parallel()
	d := directory.New(directory.Config{})
	busy, quiet := id.New[id.Organization](), id.New[id.Organization]()
	void := func(org id.Organization, actor string) (who id.Subscriber) {
		voucher := id.New[id.Voucher]()
		d.Apply(events.Envelope{
			Meta:  events.Metadata{OrgID: org, Actor: events.Actor{Kind: events.ActorUser, ID: actor}},
			Event: events.VoucherVoided{VoucherSubject: events.VoucherSubject{VoucherID: voucher}},
		})
		return id.As[id.Subscriber](voucher)
	}
	clerk := void(quiet, "clerk")
	oldest := void(busy, "flood")
	for range 1100 { // a batch of unused vouchers
		void(busy, "flood")
	}
	if act, known := d.LastAct(quiet, clerk); !known || act.Actor.ID != "clerk" {
		t.Errorf("another organization's act has gone: %v %+v", known, act)
	}
	if _, known := d.LastAct(busy, oldest); known {
		t.Error("an organization's acts have no bound")
	}
	if _, known := d.LastAct(busy, clerk); known {
		t.Error("an act is known in another organization")
	}
}
