package mobilemoney

import (
	"strings"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// NormalizePhone gives a phone in the provider's form: 254XXXXXXXXX. It accepts +254XXXXXXXXX, 254XXXXXXXXX,
// 0XXXXXXXXX, and the nine digits of a mobile number, which begin with 7 or 1. Anything else, also spaces, fails with
// invalid_phone. Source: docs/rules/payments.md#phones.
func NormalizePhone(phone string) (string, error) {
	local := phone
	switch {
	case strings.HasPrefix(phone, "+254"):
		local = phone[4:]
	case strings.HasPrefix(phone, "254") && len(phone) == 12:
		local = phone[3:]
	case strings.HasPrefix(phone, "0"):
		local = phone[1:]
	case !strings.HasPrefix(phone, "7") && !strings.HasPrefix(phone, "1"):
		local = ""
	}
	if len(local) != 9 || strings.Trim(local, "0123456789") != "" {
		return "", failure.New(failure.Invalid, "invalid_phone",
			"Write the phone number as +254XXXXXXXXX, 254XXXXXXXXX or 0XXXXXXXXX.")
	}
	return "254" + local, nil
}
