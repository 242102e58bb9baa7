package records

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lockscope/lockscope/lock"
)

// MaxSlots bounds how many slots a semaphore can have. Records that name more are not believed.
const MaxSlots = 100

// Construct is what a lock is part of. It is zero for a lock by itself.
type Construct struct {
	Kind  lock.Kind
	Slots int // of the semaphore; 0 for other kinds
}

// ConstructOf returns what a record says that its lock is part of.
func ConstructOf(h lock.Holder) Construct { return Construct{h.Kind, h.Slots} }

// SlotName returns the resource of a semaphore's slot: NAME#3.
func SlotName(semaphore string, slot int) string { return semaphore + "#" + strconv.Itoa(slot) }

// ValidateSlots fails with lock.ErrInvalidOption unless a semaphore may have that many slots, and with
// lock.ErrInvalidResource if a slot cannot have a name.
func ValidateSlots(semaphore string, slots int) error {
	if slots < 1 || slots > MaxSlots {
		return fmt.Errorf("%w: semaphore %q: %d slots: use 1 to %d", lock.ErrInvalidOption, semaphore, slots, MaxSlots)
	}
	if err := lock.ValidateResource(semaphore); err != nil {
		return fmt.Errorf("semaphore %q: %w", semaphore, err)
	}
	if err := lock.ValidateResource(SlotName(semaphore, slots-1)); err != nil {
		return fmt.Errorf("semaphore: slot %d: %w", slots-1, err)
	}
	return nil
}

// ValidateSemaphore fails as ValidateSlots does, and with lock.ErrInvalidResource for the name of a slot.
func ValidateSemaphore(name string, slots int) error {
	if err := ValidateSlots(name, slots); err != nil {
		return err
	}
	if _, _, ok := ParseSlot(name); ok {
		return fmt.Errorf("%w: semaphore %q has the name of a slot", lock.ErrInvalidResource, name)
	}
	return nil
}

// ParseSlot splits the name of a semaphore's slot, NAME#3. ok is false for any other name.
func ParseSlot(resource string) (semaphore string, slot int, ok bool) {
	at := strings.LastIndexByte(resource, '#')
	if at < 1 {
		return "", 0, false
	}
	number := resource[at+1:]
	slot, err := strconv.Atoi(number)
	if err != nil || slot < 0 || slot >= MaxSlots || strconv.Itoa(slot) != number {
		return "", 0, false
	}
	return resource[:at], slot, true
}

// AnySlot is what follows the name of a semaphore in the key of the queue of those that wait for any of its slots.
const AnySlot = "#*"

// SemaphoreOf returns the semaphore of a resource that is one of its slots, NAME#3, or the queue for any of them, NAME#*.
// ok is false for any other name.
func SemaphoreOf(resource string) (semaphore string, ok bool) {
	if name, any := strings.CutSuffix(resource, AnySlot); any && name != "" {
		return name, true
	}
	name, _, ok := ParseSlot(resource)
	return name, ok
}

// SlotsOf names all slots of the semaphore that a resource is part of: the resource is one of its slots, its own name,
// or that with AnySlot. It is nil for other constructs, and for the slot of a semaphore with one.
func SlotsOf(resource string, of Construct) []string {
	if of.Kind != lock.KindSemaphore || of.Slots < 1 || of.Slots > MaxSlots {
		return nil
	}
	name, slot, ok := ParseSlot(resource)
	switch {
	case ok && of.Slots == 1:
		return nil
	case !ok || slot >= of.Slots:
		name = strings.TrimSuffix(resource, AnySlot)
	}
	all := make([]string, of.Slots)
	for i := range all {
		all[i] = SlotName(name, i)
	}
	return all
}
