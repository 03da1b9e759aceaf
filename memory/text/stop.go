package text

// stopWords are words so common that they say nothing about what a text is about,
// by language: articles, pronouns, prepositions, conjunctions, auxiliary verbs.
var stopWords = map[string]string{
	"en": `a about above after again against all am an and any are aren't as at be because been before being below between both but by
		can can't cannot could couldn't did didn't do does doesn't doing don't down during each few for from further
		had hadn't has hasn't have haven't having he her here hers herself him himself his how i i'd i'll i'm i've if in into is isn't it its itself
		let me more most my myself no nor not of off on once only or other our ours ourselves out over own
		same she should shouldn't so some such than that the their theirs them themselves then there these they they'd they'll they're they've this those through to too
		under until up very was wasn't we we'd we'll we're we've were weren't what when where which while who whom why will with won't would wouldn't
		you you'd you'll you're you've your yours yourself yourselves`,
	"fr": `à ai aie aient aies ait as au aux auquel auquelle aura aurai auraient aurais aurait auras aurez auriez aurons auront avaient avais avait avec avez aviez avions avons
		ayant ce ceci cela ces cet cette ceux chez comme comment d dans de des donc dont du elle elles en es est et étaient étais était étant été êtes eu eue eut
		eux fait furent fus fut ici il ils j je l la là laquelle le lequel les lesquels leur leurs lui m ma mais me même mes moi mon n ne ni nos notre nous on ont ou où
		par pas pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se sera serai seraient serais serait seras serez serons seront ses si soient sois soit
		sommes son sont sous suis sur t ta te tes toi ton tu un une vos votre vous y`,
	"de": `aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch auf aus bei bin bis bist da damit dann das daß dass dein deine deinem
		deinen deiner dem den denn der des dessen dich die dies diese dieselbe diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es etwas
		euch euer eure für gegen gewesen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem ins ist ja jede jedem jeden jeder
		jedes jene jener jetzt kann kein keine keinem keinen keiner können könnte man manche mein meine meinem meinen meiner mich mir mit muss musste nach nicht nichts noch nun nur ob
		oder ohne sehr sein seine seinem seinen seiner selbst sich sie sind so solche soll sollte sondern sonst über um und uns unser unsere unter viel vom von vor während war waren
		warst was weg weil weiter welche welcher wenn wer werde werden wie wieder will wir wird wirst wo wollen wollte würde würden zu zum zur zwar zwischen`,
	"es": `a al algo algunas algunos ante antes como con contra cual cuando de del desde donde durante e el él ella ellas ellos en entre era eran eras eres es esa esas ese eso esos
		esta está estaba estado están estar estas este esto estos estoy fue fueron fui ha haber había habían han has hasta hay he hemos la las le les lo los más me mi mí mis mucho
		muchos muy nada ni no nos nosotras nosotros nuestra nuestras nuestro nuestros o os otra otras otro otros para pero poco por porque que qué quien quién quienes se sea sean ser
		será serán si sí sido sin sobre sois somos son soy su sus suya suyo también tanto te tengo ti tiene tienen todo todos tu tú tus tuve tuvo un una uno unos vosotros vuestra
		vuestro y ya yo`,
	"it": `a abbia abbiamo agli ai al alla alle allo anche avere aveva avevano avuto c che chi ci coi col come con contro cui da dagli dai dal dalla dalle dallo degli dei del della
		delle dello di dove e è ed era erano essere fa fosse fu furono gli ha hai hanno ho i il in io l la le lei li lo loro lui ma me mi mia mie miei mio ne negli nei nel nella nelle
		nello noi non nostra nostri nostro o per perché più quale quanta quanti quanto quella quelle quelli quello questa queste questi questo se sei si sia siamo siano siete sono sta
		stato su sua sue sugli sui sul sulla sulle sullo suo suoi ti tra tu tua tue tuo tuoi tutti tutto un una uno vi voi vostra vostro`,
	"pt": `a à ao aos aquela aquelas aquele aqueles aquilo as às até com como da das de dela delas dele deles depois do dos e é ela elas ele eles em entre era eram essa essas esse
		esses esta está estão estas estava estavam este estes estou eu foi foram fui há isso isto já la lhe lhes lo mais mas me mesmo meu meus minha minhas muito na não nas nem no nos
		nós nossa nossas nosso nossos num numa o os ou para pela pelas pelo pelos por qual quando que quem são se seja sem ser será seu seus só somos sou sua suas também te tem têm
		temos tenho ter teu teus teve tinha tinham tu tua tuas um uma uns você vocês vos`,
	"nl": `aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een eens en er ge geen geweest haar had heb hebben heeft hem het hier hij hoe hun
		iemand iets ik in is ja je kan kon kunnen maar me meer men met mij mijn moet na naar niet niets nog nu of om omdat onder ons ook op over reeds te tegen toch toen tot u uit uw
		van veel voor want waren was wat werd wezen wie wil worden wordt zal ze zelf zich zij zijn zo zonder zou`,
}

// elisions are what stands in front of an apostrophe and is not a part of the word
// behind it, by language.
var elisions = map[string]string{
	"fr": "c d j jusqu l lorsqu m n puisqu qu quoiqu s t",
	"it": "agl all bell c ch com d dagl dall degl dell dev gl l m negl nell quell quest s sant sugl sull t un v",
	"ga": "b d m",
}
