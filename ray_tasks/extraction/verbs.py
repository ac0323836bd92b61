"""Everyday English verbs and their forms: what the rules know instead of a part-of-speech tagger.

The list is closed on purpose. A word outside it is never taken for a verb, so a sentence that the rules do not
understand is kept as it is instead of being cut wrongly.
"""

from __future__ import annotations

from functools import cache
from typing import Final, Literal

from ray_tasks.extraction.wordlists import word_list, word_set

Form = Literal["base", "third", "past", "ing"]

# A plus marks a verb that doubles its last letter: tap, tapped, tapping.
_REGULAR: Final = word_list(
    """
    accept add adjust admire agree aim align answer appear applaud apply approach argue arrange arrive ask
    assemble attach attend bake balance bounce bow brace browse brush bump button call carry carve change charge
    chase chat+ check chew chop+ chuckle circle clap+ clasp clean clear click climb clink clip+ close coil
    collect comb communicate compare complete confirm connect continue control convey cook cool copy cough count
    cover crack crawl cross crouch crumple crush dab+ dance debug+ decide decorate delete deliver demonstrate
    describe dip+ direct discuss dodge drag+ drain drape drop+ dry dump dust edit empty enjoy enter erase
    examine exchange exit explain express extend extract fasten fetch fiddle fill film finish fix flatten flick
    flip+ fold follow fry gather gaze gesture glance glue grab+ grill greet grip+ guide hammer hand happen head
    help hesitate hop+ hug+ hum+ hurry insert inspect install instruct interact introduce iron join joke juggle
    jump kick kiss knead knock label laugh lean leap lick lift light line listen load lock look loosen lower
    manage mark massage measure meet melt mention message mix monitor mop+ motion mount mouth move munch nod+
    notice nudge observe offer open operate order organise organize pace pack paint pair park pass paste pat+
    pause peel peek peer photograph pick pile pinch place plan+ plant play plug+ point poke polish pose position
    pour practice practise praise prepare press print pry pull pump push rake raise reach rearrange receive
    record refill relax release remain remove repair repeat replace reply report request respond rest return
    review rinse rip+ roast rock roll rotate row rub+ rummage rush scan+ scold scoop scrape scratch screw scroll
    scrub+ seal search season select separate serve set+ settle shape share sharpen shave shift shop+ shout
    shovel shrug+ shuffle sigh sign sip+ slap+ slice slip+ smell smile smoke smooth snack snap+ sniff sort
    splash spray sprinkle squat+ squeeze stack stamp staple stare start stay steady step+ stir+ stop+ store
    straighten strap+ stretch stroke stroll study stuff suck suggest support survey sway swallow swap+ swipe
    switch tag+ talk tap+ taste tear test text thank thread tidy tie tighten tilt tip+ toast top+ toss touch
    tour trace transfer translate trim+ troubleshoot trot+ try tug+ tune turn tweak twist type want need seem
    cost live love unbox uncap+ uncover unfold unlock unpack unpick unplug+ unroll unscrew untangle untie
    unwrap+ unzip+ upload use view visit wade wait walk wander warm wash watch water wave weed weigh whisk
    whisper wipe wonder work wrap+ yawn zip+ zoom
    """
)

_IRREGULAR: Final = word_list(
    """
    be:was,were,been bend:bent bite:bit,bitten blow:blew,blown break:broke,broken bring:brought build:built
    buy:bought catch:caught choose:chose,chosen come:came creep:crept cut:cut dig:dug do:did,done
    draw:drew,drawn drink:drank,drunk drive:drove,driven eat:ate,eaten fall:fell,fallen feed:fed feel:felt
    fight:fought find:found fling:flung fly:flew,flown forget:forgot,forgotten freeze:froze,frozen
    get:got,gotten give:gave,given go:went,gone grind:ground grow:grew,grown hang:hung have:had hear:heard
    hide:hid,hidden hit:hit hold:held keep:kept kneel:knelt know:knew,known lay:laid lead:led leave:left
    lend:lent let:let lie:lay,lain lose:lost make:made meet:met pay:paid put:put read:read ride:rode,ridden
    rise:rose,risen run:ran say:said see:saw,seen saw:sawed,sawn sell:sold send:sent set:set sew:sewed,sewn
    shake:shook,shaken shut:shut sing:sang,sung sit:sat sleep:slept slide:slid speak:spoke,spoken spend:spent
    spin:spun split:split spread:spread stand:stood steal:stole,stolen stick:stuck sting:stung strike:struck
    sweep:swept swim:swam,swum swing:swung take:took,taken teach:taught tear:tore,torn tell:told think:thought
    throw:threw,thrown understand:understood wake:woke,woken mean:meant become:became win:won wear:wore,worn
    weave:wove,woven wind:wound withdraw:withdrew,withdrawn wring:wrung write:wrote,written dry:dried fry:fried
    pry:pried carry:carried hurry:hurried tidy:tidied tie:tied untie:untied copy:copied empty:emptied
    study:studied try:tried reply:replied apply:applied steady:steadied troubleshoot:troubleshot light:lit
    burst:burst
    """
)

_ING: Final = {"lie": "lying", "tie": "tying", "untie": "untying", "be": "being", "see": "seeing"}
_DOUBLING: Final = word_set("cut dig forget get hit let put run set shut sit spin split swim stop win")
_VOWELS: Final = frozenset("aeiou")

AMBIGUOUS_NOUNS: Final = word_set(
    """
    button clip comb film hand head iron label light line mark mouth place plan plant point row screw season
    shop step store text thread tip top tour water work zip shape rest rock roll seal share support stamp staple
    tag toast tune view wind board
    """
)
"""Verbs that are nouns as often: taken for verbs only where an object or a particle follows."""


def _third(base: str) -> str:
    if base in ("be", "have", "do", "go"):
        return {"be": "is", "have": "has", "do": "does", "go": "goes"}[base]
    if base.endswith(("s", "x", "z", "ch", "sh")):
        return base + "es"
    if base.endswith("y") and base[-2] not in _VOWELS:
        return base[:-1] + "ies"
    return base + "s"


def _ing(base: str, doubles: bool) -> str:
    if base in _ING:
        return _ING[base]
    if doubles:
        return base + base[-1] + "ing"
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
        return base[:-1] + "ing"
    return base + "ing"


def _regular_past(base: str, doubles: bool) -> str:
    if doubles:
        return base + base[-1] + "ed"
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in _VOWELS:
        return base[:-1] + "ied"
    return base + "ed"


@cache
def _lexicon() -> dict[str, tuple[str, frozenset[Form]]]:
    """Every known form -> (its base, which forms it can be)."""
    forms: dict[str, tuple[str, set[Form]]] = {}

    def note(word: str, base: str, form: Form) -> None:
        forms.setdefault(word, (base, set()))[1].add(form)

    irregular = {base: pasts.split(",") for base, _, pasts in (entry.partition(":") for entry in _IRREGULAR)}
    for entry in [*_REGULAR, *irregular]:
        base = entry.rstrip("+")
        doubles = entry.endswith("+") or base in _DOUBLING
        note(base, base, "base")
        note(_third(base), base, "third")
        note(_ing(base, doubles), base, "ing")
        for past in irregular.get(base) or [_regular_past(base, doubles)]:
            note(past, base, "past")
    for word in ("am", "are"):
        note(word, "be", "base")
    return {word: (base, frozenset(kinds)) for word, (base, kinds) in forms.items()}


def verb_forms(word: str) -> frozenset[Form]:
    """Which verb forms a lower-case word can be; empty where it is no known verb."""
    entry = _lexicon().get(word)
    return entry[1] if entry else frozenset()


def verb_base(word: str) -> str | None:
    """The base form (``took`` -> ``take``), or None where the word is no known verb."""
    entry = _lexicon().get(word)
    return entry[0] if entry else None


def first_person(verb: str) -> str:
    """A verb as it follows "I": ``picks`` -> ``pick``, ``is`` -> ``am``, ``has`` -> ``have``; other words unchanged."""
    special = {"is": "am", "are": "am", "were": "was", "has": "have", "does": "do", "isn't": "am not"}
    if verb in special:
        return special[verb]
    entry = _lexicon().get(verb)
    return entry[0] if entry and entry[1] == frozenset({"third"}) else verb
