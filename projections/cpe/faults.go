package cpeviews

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// FaultRow is one error that the CPE server has noted for a CPE. It is no row of a read model: the event log does not
// have the faults.
type FaultRow struct {
	ID           id.CPEFault     `db:"fault_id"`
	ServerID     string          `db:"server_id"` // by which the CPE server knows it
	CpeID        id.CPE          `db:"cpe_id"`
	SerialNumber string          `db:"serial_number"`
	Channel      string          `db:"channel"`
	Code         string          `db:"code"` // such as cwmp.9007
	Message      string          `db:"message"`
	Parameters   []FaultySetting `db:"parameters"`
	Retries      int             `db:"retries"`
	FirstSeen    time.Time       `db:"first_seen"`
	LastSeen     time.Time       `db:"last_seen"`
	GoneAt       *time.Time      `db:"gone_at"` // nil = the CPE server has it, as far as is known
}

// FaultySetting is a device's no to one parameter. Value is the one that a provision of the platform writes to every
// device; "" for all others, which may be secrets or a person's.
type FaultySetting struct {
	Name    string `json:"name"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Value   string `json:"value,omitempty"`
}

// FaultKey is a row's place in the list, newest first. The zero value starts at the newest row.
type FaultKey struct {
	At time.Time   `json:"a"`
	ID id.CPEFault `json:"i"`
}

// Key makes the next page begin after this row.
func (r FaultRow) Key() FaultKey { return FaultKey{At: r.FirstSeen, ID: r.ID} }
