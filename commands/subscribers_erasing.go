package commands

import "github.com/lastmile-isp/lastmile/internal/id"

// ErasePerson removes what is kept of a forgotten customer beside log and read models, and then destroys the key of the
// person. A repeat removes what has come since.
type ErasePerson struct {
	OrgID        id.Organization `json:"orgId"`
	SubscriberID id.Subscriber   `json:"subscriberId"`
	Position     uint64          `json:"position,omitempty"` // of the event; read models must have reached it
}

// Kind is the durable name of the job.
func (ErasePerson) Kind() string { return "subscribers_erase_person" }

// EraseUser does the same for a user who is forgotten: somebody who signed in to see a customer.
type EraseUser struct {
	UserID id.User `json:"userId"`
}

// Kind is the durable name of the job.
func (EraseUser) Kind() string { return "identity_erase_user" }
