package catalog

import (
	"bytes"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// categories lists the categories of the product's streams. A test compares it with the aggregates that are registered.
var categories = []string{
	"accessdifference", "account", "addressing", "allowance", "apikey", "approval", "batch_undo", "bill",
	"billing_run", "billmanager", "billoptin", "claim", "compensation", "cpe", "cpecampaign", "cpefirmware",
	"cpeonu", "cpeoperation", "cpeprovision", "device", "dunning", "dunningpolicy", "enforcement", "export",
	"fuse", "gateway", "import", "lookup", "message", "messagesettings", "nasservice", "numbering",
	"organization", "outage", "outagerules", "payment", "payoutage", "plan", "plan_move", "receipt",
	"reconcile", "reconciliation", "refund", "refusal", "session", "signature", "subscriber",
	"subscription", "supportrequest", "taxcontact", "taxgateway", "topology", "usage", "user", "voucher",
	"voucherbatch", "webhook",
}

// categorySet has the categories for look-ups.
var categorySet = setOf(categories)

// setOf makes a set of texts.
func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, one := range list {
		set[one] = true
	}
	return set
}

// Categories lists the categories of the product's streams, sorted.
func Categories() []string { return slices.Clone(categories) }

// IsOwn reports whether an event is the product's: its stream is named <category>-<uuid> with a category of the
// product, or it has the metadata that every version of the product writes, which also shows the events of categories
// that only a newer version knows. All others are of other applications on the same store. IsOwn never reads the event
// itself.
func IsOwn(r Recorded) bool {
	category, key, _ := strings.Cut(r.Stream, "-")
	if categorySet[category] && len(key) == uuidLength && uuid.Validate(key) == nil {
		return true
	}
	rest, ok := bytes.CutPrefix(r.Metadata, []byte(`{"eventId":"`+r.ID.String()+`"`))
	return ok && bytes.HasPrefix(rest, []byte(`,"commandId":`))
}

// uuidLength is the length of a UUID in the form of the names of streams; uuid.Validate takes other forms, too.
const uuidLength = 36
