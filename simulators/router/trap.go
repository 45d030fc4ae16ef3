package router

import "net/http"

// Trap is a refusal with the text of a real router.
type Trap struct {
	Category int // of the API protocol; negative when the router gives none
	Message  string
	Status   int // of REST
}

// Error gives the text alone, as a console prints it.
func (t *Trap) Error() string { return t.Message }

// refuse makes the refusal of an argument or a state.
func refuse(message string) *Trap {
	return &Trap{Category: -1, Message: message, Status: http.StatusBadRequest}
}

// noItem refuses an id or name that is not in the menu.
func noItem() *Trap { return &Trap{Category: 0, Message: "no such item", Status: http.StatusNotFound} }

// noPermission refuses a user who lacks the policy.
func noPermission() *Trap {
	return &Trap{Category: -1, Message: "not enough permissions (9)", Status: http.StatusInternalServerError}
}

// noMode refuses what the device mode forbids.
func noMode() *Trap {
	return &Trap{Category: -1, Message: "failure: not allowed by device-mode", Status: http.StatusInternalServerError}
}

// mismatch refuses a value that is none of the allowed words or names.
func mismatch(prop string) *Trap {
	return &Trap{Category: 1, Message: "input does not match any value of " + prop, Status: http.StatusBadRequest}
}

// badValue refuses a value of a wrong form.
func badValue(prop string) *Trap {
	return &Trap{Category: 1, Message: "invalid value for argument " + prop, Status: http.StatusBadRequest}
}
