package failure

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// FieldFault is a fault as programs read it, so that each language can say it.
type FieldFault struct {
	Field  string   // such as lines[0].unitPrice
	Code   string   // one of FaultCodes; "" = none, only the text says it
	Values []string // the facts in the text, in its order
}

// faultTexts are the texts of faults that have a code, behind the name of the field. %d stands for a number, %s for
// anything. Codes are part of the API and never change their meaning.
var faultTexts = map[string]string{
	"required":           "is required",
	"empty":              "must not be empty",
	"negative":           "must not be negative",
	"not_above_zero":     "must be above zero",
	"above":              "must be at most %d",
	"out_of_range":       "must be from %d to %d",
	"days_above":         "must be at most %d days",
	"too_long":           "must be at most %d characters",
	"length":             "must have %d to %d characters",
	"length_plain":       "must have %d to %d characters, without control characters",
	"too_short":          "must have at least %d characters",
	"control_characters": "must not have control characters",
	"direction":          "must not have characters that change the direction of writing",
	"too_many_bytes":     "must have at most %d bytes",
	"name_form":          "must have %d to %d letters, digits or . _ -",
	"unseen_character":   "has a character that cannot be seen, such as a tab or a special space; type it again",
	"same_phone":         "must be another one than phone",
	"no_second_phone":    "must be false without a second phone",
	"route_form":         "must be networks such as 203.0.113.0/29 (%d to 32 bits) or 2001:db8:5::/48 (%d to %d)",
	"route_of_platform":  "must not overlap networks of the platform, such as %s",
	"routes_overlap":     "must not overlap each other",
	"outer_space":        "must not begin or end with a space",
	"username_length":    "must have at most 64 characters and 100 bytes",
	"code_form":          "must have at most 10 letters, digits or -",
	"email":              "must be an e-mail address",
	"phone_with_country": "must be a phone number with its country, such as +254712345678, " +
		"or a Kenyan one, such as 0712345678",
	"phone":                "must look like +254XXXXXXXXX, 254XXXXXXXXX or 0XXXXXXXXX",
	"decimals":             "must be a number with at most %d decimals",
	"quantity":             "must be a decimal number with at most 9 digits and 6 decimals",
	"whole_number":         "must be a whole number from %d to %d",
	"date":                 "must be a date, YYYY-MM-DD",
	"instant":              "must be a time in RFC 3339, or a date",
	"in_past":              "must not be in the past",
	"in_future":            "must not be in the future",
	"five_years":           "must be in the next five years",
	"too_far":              "must be at most five years ahead",
	"before_end":           "must be before to",
	"after_end":            "must not be after to",
	"id":                   "must be an id",
	"currency":             "must be the organization's, %s",
	"currency_unknown":     "must be a currency that the platform bills in, such as KES",
	"prefix_form":          "must be 2 to 6 capitals or digits",
	"host_form":            "must be a DNS label: lower-case letters and digits, with hyphens within",
	"role":                 "must be admin, support or subscriber",
	"password_same":        "must differ from the current one",
	"password_wrong":       "is wrong",
	"code_wrong":           "is wrong or was used before",
	"own_address":          "is your address already",
	"one_address":          "cannot be added: this sign-in has one address",
	"ip":                   "must be an IP address",
	"ipv4":                 "must be an IPv4 address",
	"customer_ipv4":        "must be an IPv4 address that one customer can have",
	"subnet":               "must be an IPv4 subnet such as 10.50.1.0/24",
	"subnet_host_bits":     "has host bits set, did you mean %s",
	"subnet_host":          "must be a host of the subnet %s",
	"subnet_size":          "must be from /%d to /%d",
	"inside_pool":          "must not be inside the pool",
	"pool_order":           "must not be before poolStart",
	"interface_unknown":    "%s does not exist on this router",
	"interface_of_another": "%s belongs to another service",
	"interface_kind":       "%s is not an ethernet port, SFP port, VLAN or bridge",
	"hotspot_plan":         "must be a prepaid hotspot plan",
	"rate":                 "must be from 1 to %d kbit/s",
	"time_of_day":          "must be a time from 00:00 to 23:59",
	"windows_overlap":      "must not have windows that overlap",
	"direct_mode":          "is required in direct mode",
	"time_of_day_end":      "must be a time from 00:00 to 24:00, and differ from the beginning",
	"shortcode":            "must be 5 to 7 digits",
	"prefix_not_digits":    "must be 2 to 6 capitals or digits, not digits alone",
	"country":              "must be two capitals, ISO 3166-1",
	"time_zone":            "must be an IANA time zone such as Africa/Nairobi",
	"burst_down":           "must be from rates.down to %d kbit/s",
	"burst_up":             "must be from rates.up to %d kbit/s",
	"threshold_down":       "must be from 1 kbit/s to the burst's down",
	"threshold_up":         "must be from 1 kbit/s to the burst's up",
	"reminder_days":        "must be days from -%d to %d",
	"large_for_quantity":   "is too large for the quantity",
	"lines_sum":            "must sum to at least zero and at most the limit",
	"percent":              "must be between 0 and 100 percent",
	"macs":                 "must be addresses of equipment, such as AA:BB:CC:DD:EE:FF",
	"ipv6_prefix":          "must be an IPv6 prefix of %d to %d bits, such as 2001:db8:1:100::/56",
	"router_address":       "must be a router's address in %s",
	"host_port":            "must be a host, or host:port",
	"mobile_number":        "must be a Kenyan mobile number such as 254712345678",
	"account_number":       "must be 8 digits, the last a Luhn check digit",
	"interface_name":       "must be the name of an interface",
	"say_why":              "must say why",
	"tags":                 "must each have 1 to 50 letters, digits, spaces or . _ : / -",
	"length_bytes":         "must have 1 to %d bytes",
	"too_many_entries":     "must have at most %d entries",
	"too_many_addresses":   "must have at most %d addresses",
	"too_many_windows":     "must have at most %d windows",
	"too_many_components":  "must have at most %d components",
	"too_many_days":        "must have at most %d days",
	"tax_name":             "components need a name of at most %d bytes",
	"tax_range":            "rates must be from 0 to 100 percent",
	"percent_decimals":     "must be a percentage with at most two decimals",
	"printable":            "must have %d to %d printable characters without spaces",
	"printable_short":      "must have at most %d printable characters",
	"customer_or_sign_in":  "must be a customer of the organization, or a sign-in that sees one",
	"wifi_key":             "must have %d to %d letters, digits or signs of English",
	"test_address":         "must be an address such as http://test.example.com/10MB.bin",
	"cpe_name":             "must be names such as Device.DeviceInfo.ProvisioningCode",
	"cpe_secret_name":      "must not be passwords, nor settings of the way to the CPE server",
	"service_named":        "must be named: the customer has several services",
	"management_size":      "must be at most a /%d for cpe-management",
	"policy_names":         "must have names of 1 to 50 letters, digits, - and _",
	"day_twice":            "must have each day once",
	"policy_unknown":       "must be a policy of the dunning settings",
	"within_days":          "must be within %d days",
	"tax_pin":              "must have 3 to 30 letters, digits, - or /",
	"pool_name":            "must be the name of a pool in the router: 1 to 64 printable characters without spaces",
}

// faultForms are the texts as patterns, the longest first, since a short one may fit what a longer one says.
var faultForms = func() []faultForm {
	codes := slices.SortedFunc(maps.Keys(faultTexts), func(a, b string) int {
		return len(faultTexts[b]) - len(faultTexts[a])
	})
	forms := make([]faultForm, len(codes))
	for i, code := range codes {
		pattern := strings.NewReplacer("%d", `(-?\d+)`, "%s", `(.+)`).Replace(regexp.QuoteMeta(faultTexts[code]))
		forms[i] = faultForm{code, regexp.MustCompile(`^` + pattern + `$`)}
	}
	return forms
}()

// faultForm is the pattern of a text.
type faultForm struct {
	code    string
	pattern *regexp.Regexp
}

// FaultCodes lists the codes of faults, sorted.
func FaultCodes() []string { return slices.Sorted(maps.Keys(faultTexts)) }

// FieldFaults reads the faults of a failure; nil when it has none. The name of a field ends before the first space.
func (e *Error) FieldFaults() []FieldFault {
	var list []FieldFault
	for _, fault := range e.Faults {
		field, text, _ := strings.Cut(fault, " ")
		read := FieldFault{Field: field}
		for _, form := range faultForms {
			if found := form.pattern.FindStringSubmatch(text); found != nil {
				read.Code, read.Values = form.code, found[1:]
				break
			}
		}
		list = append(list, read)
	}
	return list
}
