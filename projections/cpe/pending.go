package cpeviews

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// PendingRow is one CPE that has called and waits to be claimed. It is no row of a read model: the event log does not
// have the calls.
type PendingRow struct {
	ID           id.CPE    `db:"cpe_id"`
	SerialNumber string    `db:"serial_number"`
	OUI          string    `db:"oui"`
	ProductClass string    `db:"product_class"`
	Refused      string    `db:"refused"` // why it cannot be claimed; "" = it can
	FirstSeen    time.Time `db:"first_seen"`
	At           time.Time `db:"at"` // of its last call
}

// Key makes the next page begin after this row.
func (r PendingRow) Key() CPEKey { return CPEKey{At: r.FirstSeen, ID: r.ID} }
