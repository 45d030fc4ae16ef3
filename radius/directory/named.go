package directory

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// Named finds who has the username of a session of which nothing was reported: a subscription, or a voucher that was
// used, by its code. Zero = nobody of the organization.
func (d *Directory) Named(org id.Organization, username string, at time.Time) (id.Subscriber, id.Subscription) {
	if h, known := d.Holder(org, nil, username, at); known {
		return h.SubscriberID, h.SubscriptionID
	}
	v, _ := d.cfg.Vouchers.ID(org, username)
	if u, batch := d.vouchers.look(v); batch == nil || batch.org != org || u.first.IsZero() {
		return id.Subscriber{}, id.Subscription{}
	}
	return id.As[id.Subscriber](v), VoucherService(v)
}
