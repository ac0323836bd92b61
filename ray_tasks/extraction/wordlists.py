"""Closed classes of English words that the rules rely on."""

from __future__ import annotations

from typing import Final


def word_list(text: str) -> tuple[str, ...]:
    """The words of a text, parted by white space."""
    return tuple(text.split())


def word_set(text: str) -> frozenset[str]:
    """The words of a text, parted by white space, as a set."""
    return frozenset(text.split())


DETERMINERS: Final = word_set(
    """
    the a an this that these those my your his her its our their some any another each every both all one two
    three four five six seven eight nine ten several many few more half
    """
)
POSSESSIVES: Final = word_set("my your his her its our their")
PREPOSITIONS: Final = word_set(
    """
    to at in into on onto of off from for with without by about under over above below behind beside between
    through across along around against inside outside near toward towards past after before during until upon
    as than like beneath among
    """
)
PARTICLES: Final = word_set(
    """
    up down out off on in over away back around forward forwards backward backwards ahead along apart aside
    together through upstairs downstairs inside outside here there home
    """
)
PRONOUNS: Final = word_set("i me you he him she her it we us they them myself yourself himself herself itself")
SUBJECTS: Final = word_set("i we he she they it you everyone everybody someone somebody nobody both")
CONJUNCTIONS: Final = word_set("and or but while then so because if when as that which who whom what where")
ADVERBS: Final = word_set(
    """
    also then just now slowly quickly still again gently carefully currently simply really already finally
    immediately continuously constantly always almost quietly silently briefly suddenly once twice only even
    casually accidentally directly first next later soon together forcefully hurriedly very too quite repeatedly
    gradually continually all actually not
    """
)
AUXILIARIES: Final = word_set(
    """
    am is are was were be been being have has had having do does did will would can could shall should may might
    must 'm 're 's 've 'll 'd
    """
)
FUNCTION_WORDS: Final = (
    DETERMINERS | POSSESSIVES | PREPOSITIONS | PARTICLES | PRONOUNS | SUBJECTS | CONJUNCTIONS | ADVERBS | AUXILIARIES
)

INTERJECTIONS: Final = word_set(
    """
    ah aha ahh aw aww ay aye bye ehh eh er erm gosh ha hah haha hahaha hee hehe hello hey hi hm hmm hmmm huh mm
    mmm mhm mm-hmm nah no nope oh ohh ok okay ooh oops ouch ow phew oh-oh uh uhh uh-huh um umm whoa wow yay yeah
    yep yes yo yup alright right sure well damn god dear please sorry thanks exactly indeed really absolutely
    definitely fine good great nice cool true awesome impressive amazing perfect maybe probably anyway actually
    bro
    """
)
"""Words that hold no content when a line consists of nothing else."""

GENERIC_VERBS: Final = word_set(
    """
    be have do go come get say speak talk chat continue keep look watch see begin try take give make let glance
    gaze stare mean happen know
    """
)
"""Verbs that say nothing without an object."""

VAGUE: Final = word_set(
    """
    sentence sentences word words something anything nothing thing things time moment bit little lot kind way
    stuff us you're it's that's there's let's don't didn't doesn't can't couldn't won't isn't aren't wasn't i'm
    i've i'll i'd we're we've we'll he's she's they're what's who's where's how's why when how why yet ever
    never else such same own other others there's this's there'll didn there here ready done able forth nearby
    upper lower
    """
)

TIME_WORDS: Final = word_set("now today yesterday tomorrow right ahead already since ago while")

BODY: Final = word_set(
    """
    head nose face chin hair ear ears eye eyes eyebrow eyebrows lips lip mouth body hand hands finger fingers
    arm arms leg legs foot feet neck shoulder shoulders forehead cheek cheeks waist wrist elbow knee knees
    posture
    """
)
"""Parts of the body."""

PLACES: Final = word_set(
    """
    kitchen bedroom bathroom toilet livingroom room hall hallway corridor doorway door entrance entryway foyer
    balcony yard courtyard garden terrace garage attic basement cellar stairs staircase stairwell upstairs
    downstairs floor street road alley sidewalk bridge park square market supermarket mall shop store restaurant
    cafe café canteen bar office classroom library studio gym pool beach lake river forest field farm barn
    greenhouse workshop warehouse harbour harbor pier boat station platform bus train tram subway metro taxi car
    elevator escalator hospital pharmacy bank hotel lobby school museum cinema theatre theater church playground
    campsite tent shed outside outdoors indoors home counter checkout
    """
)
"""Nouns and adverbs that name where something happens."""
