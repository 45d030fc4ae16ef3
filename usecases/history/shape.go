package historycases

import (
	"encoding"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// Types with a form of their own.
var (
	textType     = reflect.TypeFor[personal.Text]()
	amountType   = reflect.TypeFor[money.Amount]()
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	bytesType    = reflect.TypeFor[[]byte]()
	textForm     = reflect.TypeFor[encoding.TextMarshaler]()
)

// secretTypes refer to secrets in the vault. That one was replaced is worth telling; which row has it is not.
var secretTypes = map[reflect.Type]bool{
	reflect.TypeFor[id.Secret]():       true,
	reflect.TypeFor[id.APIKeySecret](): true,
	reflect.TypeFor[id.SecondFactor](): true,
}

// private has the fields that another organization, or the owner of a shortcode, would not show to the organization
// whose aggregate it is: what contradicting reports of others said, and the balance of a shared paybill
// (docs/rules/money.md#proof-of-a-receipt).
var private = map[reflect.Type][]string{
	reflect.TypeFor[payments.Receipt]():       {"Disputing", "Contradictions", "Seen"},
	reflect.TypeFor[events.ReceiptRecorded](): {"OrgAccountBalance", "Contradicts"},
	reflect.TypeFor[events.ReceiptAssigned](): {"From"},
}

// suspicious are names of fields, and keys of maps, that could have a secret. What they hold is hidden unless harmless
// lists the field.
var suspicious = regexp.MustCompile(`(?i)(password|passphrase|passkey|secret|token|hash|credential|totp|otp$|pin$|` +
	`^key$|apikey|privatekey|signature$|code$)`)

// harmless are fields with a suspicious name and no secret in them, by type and name.
var harmless = map[string]bool{
	// codes of failures, of plans, and of what a tax authority or a provider answered
	"billing.TaxContact.Code":               true,
	"events.BatchUndoItem.Code":             true,
	"events.BillFailed.Code":                true,
	"events.BillingFailure.Code":            true,
	"events.CompensationItem.Code":          true,
	"events.CpeFaultClearAsked.Code":        true,
	"events.CpeOnuFailed.Code":              true,
	"events.CpeOperationFailed.Code":        true,
	"events.CpeProvisionRefused.Code":       true,
	"events.CompensationRefusal.Code":       true,
	"events.ExportFailed.Code":              true,
	"events.GatewayRegistrationFailed.Code": true,
	"events.MessageDropped.Code":            true,
	"events.MessageFailed.Code":             true,
	"events.PaymentCancelled.Code":          true,
	"events.PaymentFailed.Code":             true,
	"events.PlanCreated.Code":               true,
	"events.PlanMoveRefusal.Code":           true,
	"events.PromptChecked.Code":             true,
	"events.ReconciliationFailed.Code":      true,
	"events.RefundFailed.Code":              true,
	"events.RequestRefused.Code":            true,
	"events.SignatureRefused.Code":          true,
	"events.ApprovalFailed.Code":            true,
	"events.TaxGatewayFailed.Code":          true,
	"subscribers.Plan.Code":                 true,
	// numbers to which customers pay
	"events.BillManagerOptedIn.Shortcode":        true,
	"events.GatewayConfigured.Shortcode":         true,
	"events.GatewayRegistered.Shortcode":         true,
	"events.GatewayRegistrationFailed.Shortcode": true,
	"events.PaymentInitiated.Shortcode":          true,
	"events.ReceiptDisputed.Shortcode":           true,
	"events.ReceiptRecorded.Shortcode":           true,
	"events.ReconciliationStarted.Shortcode":     true,
	"payments.BillOptIn.Shortcode":               true,
	"payments.Gateway.Shortcode":                 true,
	"payments.Payment.Shortcode":                 true,
	"payments.Receipt.Shortcode":                 true,
	"payments.Reconciliation.Shortcode":          true,
	"payments.contradiction.Shortcode":           true,
	"payments.sighting.Shortcode":                true,
	// of differences of a router from its plan
	"events.DeviceSetupDrifted.Hash":   true,
	"events.ServiceDriftDetected.Hash": true,
	"network.DeviceSetup.DriftHash":    true,
	"network.Service.DriftHash":        true,
	// numbers of tax payers
	"events.BillingSettings.TaxPIN":   true,
	"events.SubscriberDetails.TaxPIN": true,
}

// holdsText reports whether a field could have a secret as text.
func holdsText(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String:
		return true
	case reflect.Slice, reflect.Array, reflect.Pointer:
		return t.Kind() != reflect.Array && holdsText(t.Elem()) || t == bytesType
	case reflect.Map:
		return holdsText(t.Elem())
	}
	return t == textType
}

// shape is how the values of a struct are shown.
type shape []shownField

// shownField is one field, also of an embedded struct.
type shownField struct {
	name  string // in JSON
	index []int
	hides Hidden // "" = nothing
}

// shapes keeps the shape of each type that was shown.
var shapes sync.Map // reflect.Type -> shape

// shapeOf finds the fields of a struct. Those of embedded structs come in their place.
func shapeOf(t reflect.Type) shape {
	if known, ok := shapes.Load(t); ok {
		return known.(shape) //nolint:forcetypeassert // nothing else is kept
	}
	var out shape
	for _, f := range reflect.VisibleFields(t) {
		if !f.IsExported() || f.Anonymous && f.Type.Kind() == reflect.Struct {
			continue
		}
		owner := t
		if len(f.Index) > 1 {
			owner = t.FieldByIndex(f.Index[:len(f.Index)-1]).Type
		}
		out = append(out, shownField{nameOf(f), f.Index, hidden(owner, f)})
	}
	shapes.Store(t, out)
	return out
}

// hidden tells why a field is not shown; "" when it is.
func hidden(owner reflect.Type, f reflect.StructField) Hidden {
	for _, name := range private[owner] {
		if name == f.Name {
			return OfOthers
		}
	}
	if suspicious.MatchString(f.Name) && holdsText(f.Type) && !harmless[owner.String()+"."+f.Name] {
		return Secret
	}
	return ""
}

// nameOf is the name of a field in JSON. States have no names for JSON, so theirs are written as those of events.
func nameOf(f reflect.StructField) string {
	if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
		return name
	}
	return lowered(f.Name)
}

// lowered writes a name of Go as JSON has it: OrgID is orgId, MACAddress is macAddress.
func lowered(name string) string {
	runes := []rune(name)
	out := make([]rune, len(runes))
	for i, r := range runes {
		begins := i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) ||
			i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if out[i] = r; !begins {
			out[i] = unicode.ToLower(r)
		}
	}
	return string(out)
}
