package messagingcases

import (
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// TestMessages_GoToTheSecondPhoneWhereItIsChosen, on each way, and to the first one otherwise.
func TestMessages_GoToTheSecondPhoneWhereItIsChosen(t *testing.T) {
	t.Parallel()
	const first, second = "+254712345678", "+254733000111"
	for name, c := range map[string]struct {
		second string
		chosen bool
		want   string
	}{
		"none": {"", false, first}, "not chosen": {second, false, first}, "chosen": {second, true, second},
		"chosen, and gone": {"", true, first},
	} {
		f := facts{whatsApp: true, subscriber: subscribersviews.SubscriberRow{
			Phone: new(first), SecondPhone: c.second, MessageSecond: c.chosen, WhatsApp: true,
		}}
		whatsApp, sms := way{events.ChannelWhatsApp, c.want}, way{events.ChannelSMS, c.want}
		if list := f.addresses(); len(list) != 2 || list[0] != whatsApp || list[1] != sms {
			t.Errorf("%s: %v", name, list)
		}
	}
}
